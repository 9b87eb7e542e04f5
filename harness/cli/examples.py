"""One example for each command, which its `--help` ends with."""

from __future__ import annotations

from collections.abc import Mapping

EXAMPLES: Mapping[str, str] = {
    "reproduce": "rocketchaos reproduce same-group-different-tags --repeat 20",
    "nightly": "rocketchaos nightly --minutes 20 --seed 7",
    "shrink": "rocketchaos shrink runs/nightly-status.json",
    "run": "rocketchaos run my-scenarios --junit junit.xml",
    "bisect": "rocketchaos bisect retries-filtered-by-sql --from 4.9.4 --to 5.5.0",
    "diagnose": "rocketchaos diagnose --namesrv 127.0.0.1:9876 --group orders-group",
    "check": "rocketchaos check runs/same-group-different-tags/latest",
    "validate": "rocketchaos validate my-scenario.scenario.yaml",
    "list": "rocketchaos list retry",
    "symptoms": "rocketchaos symptoms CONSUMED_BUT_FILTERED",
    "versions": "rocketchaos versions",
    "new": "rocketchaos new mine --from same-group-different-tags",
    "explain": "rocketchaos explain settle",
    "schema": "rocketchaos schema > scenario.schema.json",
    "doctor": "rocketchaos doctor --rocketmq 5.5.0",
    "up": "rocketchaos up --rocketmq 5.5.0",
    "down": "rocketchaos down",
    "clean": "rocketchaos clean",
    "claims": "rocketchaos claims run --only B01 --rocketmq 4.9.4 --fast",
    "claims run": "rocketchaos claims run --only B01 --rocketmq 4.9.4 --fast",
    "claims table": "rocketchaos claims table runs --out MY-CLAIMS.md",
    "claims bisect": "rocketchaos claims bisect E14",
    "claims diff": "rocketchaos claims diff runs-of-5.3.3 runs-of-5.5.0",
    "worker": "rocketchaos worker test ./my-worker",
    "worker test": "rocketchaos worker test ./my-worker",
    "report": "rocketchaos report ingest runs --store store",
    "report ingest": "rocketchaos report ingest runs --store store",
    "report flakiness": "rocketchaos report flakiness --store store --out reports",
    "report divergence": "rocketchaos report divergence --store store --out reports",
    "report timing": "rocketchaos report timing --store store --out reports",
    "report diff": "rocketchaos report diff --store store --since LAST",
    "report all": "rocketchaos report all --store store --out reports",
    "report export": "rocketchaos report export --store store --format csv --out tables",
    "report migrate": "rocketchaos report migrate --store store",
    "report tidy": "rocketchaos report tidy --store store --keep 400d",
    "report package": "rocketchaos report package --out rocketchaos-spark.zip",
}
"""By the command's name; for a command of a group, both names. A test has each parsed."""
