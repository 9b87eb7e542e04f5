"""Members of two message models, where the clients of some don't tell theirs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rocketchaos.harness.diagnose.exchange import Exchange
from tests.unit.diagnose.member_edits import ALIKE, FIRST
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
