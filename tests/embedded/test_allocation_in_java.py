"""`harness.rocketmq.allocation` against RocketMQ's own classes: the same shares for the same groups."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.rocketmq.allocation import StrategyName

pytestmark = pytest.mark.embedded

SCRIPT = Path(__file__).with_name("java_allocation.py")
ROOT = Path(__file__).parents[2]
TOPIC = "orders-mek3j2a9xyz"
BROKERS = ["broker-a", "broker-b", "east@one", "east@two", "west@one", "west", "far-c", "a@b@c", "east@"]
MEMBERS = ["a@t", "b@t", "broker-1@t", "broker-2@t", "far-x@t", "near-y@t", "z@t"]


def cases() -> list[dict[str, Any]]:
    """Groups of all sizes on up to three brokers; the same ones in every run."""
    chance = random.Random(4)
    made = []
    for strategy in get_args(StrategyName):
        for _ in range(150):
            members = chance.sample(MEMBERS, chance.randint(1, len(MEMBERS)))
            brokers = chance.sample(BROKERS, chance.randint(1, 3))
            queues = [(broker, number) for broker in brokers for number in range(chance.randint(1, 9))]
            ids = chance.sample(range(9), 3) if strategy == "by-config" else []
            made.append(
                {
                    "strategy": strategy,
                    "topic": TOPIC,
                    "queues": queues,
                    "members": members,
                    "member": chance.choice(members),
                    "ids": ids,
                    "configured": [
                        {"topic": TOPIC, "broker": broker, "id": number}
                        for broker, number in queues
                        if number in ids
                    ],
                    "rooms": chance.choice([["east"], ["east", "west"]])
                    if strategy == "machine-room"
                    else [],
                }
            )
    return made


def in_python(case: dict[str, Any]) -> list[list[Any]]:
    consumer = Consumer.model_validate(
        {"group": "g", "subscribe": {"orders": "*"}, "strategy": case["strategy"]}
        | ({"queues": case["ids"]} if case["ids"] else {})
        | ({"rooms": case["rooms"]} if case["rooms"] else {})
    )
    given = consumer.share([tuple(queue) for queue in case["queues"]], case["members"], case["member"], TOPIC)
    return sorted([broker, number] for broker, number in given)


@pytest.mark.extended
@pytest.mark.parametrize("version", [pytest.param("4.9.4", marks=pytest.mark.nightly), "5.5.0"])
def test_python_and_rocketmq_divide_alike(tmp_path: Path, version: str) -> None:
    asked = cases()
    command = [sys.executable, str(SCRIPT), str(find_java().libjvm), str(tmp_path)]
    command += [str(jar) for jar in classpath(version, "client")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, env=environment, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    answers = json.loads(ended.stdout)
    differing = [
        (case, answer, in_python(case))
        for case, answer in zip(asked, answers, strict=True)
        if answer != in_python(case)
    ]
    assert differing == []
    # Not by giving nobody anything.
    assert {case["strategy"] for case, answer in zip(asked, answers, strict=True) if answer} == set(
        get_args(StrategyName)
    )
