"""What a written scenario foretells of SQL92 against RocketMQ's own classes: the same messages match."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.diagnose.model import Subscription
from rocketchaos.harness.diagnose.reproduction.told_apart import Message, messages
from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.harness.language.tags import SQL

pytestmark = pytest.mark.embedded

SCRIPT = Path(__file__).with_name("java_sql.py")
ROOT = Path(__file__).parents[2]
NUMBERS = [
    "a = 1",
    "a > 1",
    "a >= 2",
    "a < 3",
    "-1 < a",
    "a BETWEEN 0 AND 3",
    "a NOT BETWEEN -1 AND 2",
    "a <> 2",
]
FRACTIONS = ["b = 1.5", "b > 1.2", "b <= 2.0", "1e1 > b"]
TEXTS = ["c = 'x'", "c <> 'it''s'", "'y' = c", "c IN ('x', 'y')", "c NOT IN ('y', 'z')"]
OTHERS = ["d = TRUE", "d <> FALSE", "e IS NULL", "a IS NOT NULL", "TAGS = 'tagB'", "TAGS IN ('tagA', 'tagC')"]
IN_TEXT = ["f CONTAINS 'x'", "f STARTSWITH 'x'", "f ENDSWITH 'x'"]


def expressions(simple: list[str]) -> list[str]:
    """Simple ones, and of them longer ones by chance; the same ones in every run."""
    chance = random.Random(27)
    made = list(simple)
    for _ in range(150):
        parts = [f"NOT ({item})" if chance.random() < 0.2 else item for item in chance.sample(simple, 3)]
        first, second = chance.choices(["AND", "OR"], k=2)
        made.append(f"{parts[0]} {first} {parts[1]} {second} {parts[2]}")
        made.append(f"({parts[0]} {first} {parts[1]}) {second} NOT ({parts[2]})")
    return made


def asked(simple: list[str]) -> list[tuple[str, str, Message]]:
    """Expression, member and message, two expressions at a time."""
    chance = random.Random(28)
    found = []
    for expression in expressions(simple):
        pair = {"m1": expression, "m2": chance.choice(simple)}
        wanted = {name: Subscription("t", text, SQL, 0, frozenset()) for name, text in pair.items()}
        found += [
            (text, name, message)
            for message in messages(wanted, ["tagA", "tagB"])
            for name, text in pair.items()
        ]
    return found


@pytest.mark.extended
@pytest.mark.parametrize(
    ("version", "simple"),
    [
        pytest.param("4.9.4", [*NUMBERS, *FRACTIONS, *TEXTS, *OTHERS], marks=pytest.mark.nightly),
        ("5.5.0", [*NUMBERS, *FRACTIONS, *TEXTS, *OTHERS, *IN_TEXT]),
    ],
)
def test_sqlite_and_rocketmq_match_the_same_messages(tmp_path: Path, version: str, simple: list[str]) -> None:
    cases = asked(simple)
    assert len(cases) > 1000
    command = [sys.executable, str(SCRIPT), str(find_java().libjvm), str(tmp_path)]
    command += [str(jar) for jar in classpath(version, "server")]
    given = [(text, {**message.properties, "TAGS": message.tag}) for text, _, message in cases]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, env=environment, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    answers: list[Any] = json.loads(ended.stdout)
    different = [
        (text, message.properties, message.tag, answer)
        for (text, name, message), answer in zip(cases, answers, strict=True)
        if answer != (name in message.passes)
    ]
    assert not different
