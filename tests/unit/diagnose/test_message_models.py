"""Members of two message models, where the clients of some don't tell theirs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from rocketchaos.harness.diagnose.exchange import Exchange
from tests.unit.diagnose.broker_edits import retry_end
from tests.unit.diagnose.member_edits import ALIKE, FIRST, OTHER, client_property
from tests.unit.diagnose.reports import Change, diagnosed, each


def _first(model: str, *queues: int) -> Change:
    """What the first member reports: its model, or nothing (""), and its queues of the topic."""

    def change(item: Exchange) -> Exchange:
        if item.code != 307 or item.fields["clientId"] != FIRST:
            return item
        document = item.document
        document["properties"].pop("messageModel", None)
        if model:
            document["properties"]["messageModel"] = model
        table = document["mqTable"]
        name, held = next((name, held) for name, held in table.items() if "%" not in name)
        for known in [known for known in table if "%" not in known]:
            del table[known]
        queue = json.loads(name)
        table.update({json.dumps({**queue, "queueId": number}): held for number in queues})
        return replace(item, body=json.dumps(document))

    return each(change)


def _held(model: str) -> Change:
    return 203, lambda document: document.update(messageModel=model)


def _other(model: str) -> Change:
    def change(item: Exchange) -> Exchange:
        if item.code != 307 or item.fields["clientId"] == FIRST:
            return item
        document = item.document
        document["properties"]["messageModel"] = model
        return replace(item, body=json.dumps(document))

    return each(change)


@pytest.mark.parametrize(
    ("other", "held", "queues", "found"),
    [
        ("BROADCASTING", "CLUSTERING", (0, 1), True),
        ("BROADCASTING", "BROADCASTING", (0, 1), True),
        ("BROADCASTING", "BROADCASTING", (0, 1, 2, 3), False),
        ("CLUSTERING", "BROADCASTING", (0, 1, 2, 3), True),
        ("CLUSTERING", "CLUSTERING", (0, 1), False),
        ("CLUSTERING", "CLUSTERING", (0, 1, 2, 3), False),
    ],
)
def test_the_queues_of_a_member_tell_the_model_that_its_client_does_not(
    other: str, held: str, queues: tuple[int, ...], found: bool
) -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, _first("", *queues), _other(other), _held(held))
    assert ("RC0206" in {item.check.code for item in report.findings}) is found


def test_what_a_member_tells_counts_more_than_its_queues() -> None:
    report = diagnosed("mismatch-4.9.4.json", ALIKE, _first("BROADCASTING", 0, 1), _other("BROADCASTING"))
    assert "RC0206" not in {item.check.code for item in report.findings}


def _fails(document: Any) -> None:
    """Each member fails; one that broadcasts doesn't subscribe to the retry topic."""
    document["statusTable"] = {"topic-1": {"consumeOKTPS": 0.1, "consumeFailedTPS": 0.5}}
    if document["properties"]["messageModel"] == "BROADCASTING":
        document["mqTable"] = {key: held for key, held in document["mqTable"].items() if "%RETRY%" not in key}


@pytest.mark.parametrize(("first", "other"), [("BROADCASTING", "CLUSTERING"), ("CLUSTERING", "BROADCASTING")])
def test_of_two_models_each_member_that_fails_is_told_by_its_own(first: str, other: str) -> None:
    """Measured on 4.9.4: the member that clusters was said to drop messages. Its 16 retries were said to come
    again:
    their queue was in the share of the member that broadcasts, and none came in 2 min."""
    changes = (ALIKE, client_property("messageModel", first, other), (307, _fails), retry_end(16))
    report = diagnosed("mismatch-4.9.4.json", *changes, looks=4)
    (dropped,) = (item for item in report.findings if item.check.code == "RC0704")
    assert [said.says.partition(":")[0] for said in dropped.evidence] == [
        FIRST if first == "BROADCASTING" else OTHER
    ]
    (retried,) = (item for item in report.findings if item.check.code == "RC0701")
    assert ("16 waiting retries come to nobody" in retried.effect) is (first == "BROADCASTING")
