"""How long `rocketchaos diagnose --all-groups` takes, and how much memory, on a cluster with many live groups.

Each group has one member, a Java consumer that answers for itself; members share a few processes and clients.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import yaml

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.engine.hold import Held
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.scenario import parse_scenario
from tests.benchmarks.measuring import COMMAND, ROOT, write_into_page

BEGIN = "<!-- figures of many groups by `make bench-diagnose` -->"
END = "<!-- end of figures of many groups -->"
RESULTS = Path("build/diagnose-scale.jsonl")
BROKERS = ("broker-a", "broker-b", "broker-c")
PROCESSES = 5
TOPICS = 10
AIM_S = 60


@dataclass(frozen=True, slots=True)
class Measured:
    """One whole command."""

    version: str
    groups: int
    seconds: float
    """From the command to its end."""
    mib: float
    """The most memory that its process had."""
    exit_code: int
    findings: dict[str, int]
    """How many by code."""
    undetermined: dict[str, int]


def scenario(groups: int) -> str:
    """So many groups with a member each, 10 topics with 2 queues on each of 3 brokers, a message in each queue."""
    topics = {f"t{number}": {"queues": 2} for number in range(TOPICS)}
    consumers: dict[str, object] = {}
    for number in range(groups):
        member: dict[str, object] = {
            "group": f"g{number}",
            "subscribe": {f"t{number % TOPICS}": "*"},
            "client_id": f"p{number % PROCESSES}",
            "threads": 1,
        }
        if number >= PROCESSES:
            member["beside"] = f"m{number % PROCESSES}"
        consumers[f"m{number}"] = member
    sent = [{"send": {"topic": topic, "tag": "tagA", "count": 6, "per_queue": 1}} for topic in topics]
    last = f"g{groups - 1}"
    document = {
        "name": "many-groups",
        "title": "Many groups with a member each",
        "cluster": {"brokers": list(BROKERS)},
        "topics": topics,
        "consumers": consumers,
        "steps": [
            {"start": list(consumers)},
            *sent,
            {"settle": {"delivered": last, "count": 6, "within": "180s"}},
            {
                "wait": {
                    "duration": "45s",
                    "because": "all members rebalance every 20 s, and commit every 5 s",
                }
            },
        ],
        "anomaly": [{"delivered": {"to": last, "at_least": 1000}}],
        "healthy": [{"delivered": {"to": last, "at_most": 999}}],
        "expected": "measured",
    }
    return yaml.safe_dump(document, sort_keys=False)


def measured(version: str, groups: int, repetitions: int) -> list[Measured]:
    """The command's figures, one after the other, on one cluster."""
    found: list[Measured] = []

    def hold(held: Held) -> None:
        found.extend(diagnose(version, groups, held.nameserver) for _ in range(repetitions))

    options = Options(version=version, on=ClusterKind.EMBEDDED, timing="faithful", hold=hold, seed=1)
    with Runner(options) as runner:
        report = runner.run(runner.job(parse_scenario(scenario(groups), "many-groups.scenario.yaml")))
    if not found:
        raise SystemExit(f"the groups didn't start: {report.outcome}")
    return found


def diagnose(version: str, groups: int, name_server: str) -> Measured:
    """Run the command once, and take its process's own figures."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [*COMMAND, "diagnose", "--namesrv", name_server, "--all-groups", "-o", "json"],
        stdout=subprocess.PIPE,
        stderr=sys.stderr,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    document = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    result = Measured(
        version,
        groups,
        round(time.monotonic() - begin, 1),
        round(usage.ru_maxrss / 1024),
        process.returncode,
        dict(Counter(item["code"] for item in document["findings"])),
        dict(Counter(item["code"] for item in document["undetermined"])),
    )
    print(result, flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result)) + "\n")
    return result


def table(results: Sequence[Measured]) -> str:
    """By version and number of groups."""
    rows = [
        f"{date.today()}, {os.cpu_count()} cores (with brokers and members on them), {len(BROKERS)} brokers, "
        "a live member in each group, `diagnose --all-groups`:",
        "",
        f"| version | groups | runs | time (aim ≤ {AIM_S} s) | memory at most | findings | undetermined |",
        "|---|---|---|---|---|---|---|",
    ]
    for version, groups in sorted({(item.version, item.groups) for item in results}):
        own = [item for item in results if (item.version, item.groups) == (version, groups)]
        seconds = [item.seconds for item in own]
        rows.append(
            f"| {version} | {groups} | {len(own)} | {min(seconds):.1f} - {max(seconds):.1f} s | "
            f"{max(item.mib for item in own):.0f} MiB | {_most(own, 'findings')} | {_most(own, 'undetermined')} |"
        )
    return "\n".join(rows)


def _most(results: Sequence[Measured], key: str) -> str:
    most: Counter[str] = Counter()
    for result in results:
        most |= Counter(getattr(result, key))
    return ", ".join(f"{count} {code}" for code, count in sorted(most.items())) or "none"


def write_page() -> None:
    """Write what was measured so far into the page."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    if results := [Measured(**json.loads(line)) for line in lines]:
        write_into_page(Path("docs/benchmarks.md"), table(results), BEGIN, END)
