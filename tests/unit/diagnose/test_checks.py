"""Each check finds what it is for, on recorded answers of real clusters in which one thing was changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from rocketchaos.harness.diagnose.checks import CHECKS
from tests.unit.diagnose.reports import codes, diagnosed

Change = tuple[int, Callable[[Any], Any]]

HELD_BY_BOTH = '{"brokerName": "broker-1", "queueId": 0, "topic": "topic-1"}'


def _alike(document: Any) -> None:
    for item in document["subscriptionSet"]:
        item["subString"] = "tagB" if not item["topic"].startswith("%RETRY%") else "*"


ALIKE: Change = (307, _alike)
"""The members agree: nothing is wrong but what a test changes."""


def _connections(change: Callable[[list[Any]], Any]) -> Change:
    return 203, lambda document: change(document["connectionSet"])


def _second(key: str, value: str) -> Change:
    """A property of the member whose queues are the last ones."""

    def change(document: Any) -> None:
        if '"queueId": 3' in str(list(document["mqTable"])):
            document["properties"][key] = value

    return 307, change


def _queues(change: Callable[[dict[str, Any]], Any]) -> Change:
    return 307, lambda document: change(document["mqTable"])


def _owned_by_nobody(table: dict[str, Any]) -> None:
    table.pop(HELD_BY_BOTH, None)


def _owned_twice(table: dict[str, Any]) -> None:
    table.setdefault(HELD_BY_BOTH, dict(next(iter(table.values()))))


def _route(**fields: int) -> Change:
    def change(document: Any) -> None:
        for item in document.get("queueDatas", ()):
            item.update(fields)

    return 105, change


def _offsets(number: int) -> Change:
    def change(document: Any) -> None:
        for key, offsets in document["offsetTable"].items():
            if not key.startswith("%RETRY%"):
                offsets["0"] = number

    return 43, change


def _stats(**fields: int) -> Change:
    def change(document: Any) -> None:
        for key, item in document.get("offsetTable", {}).items():
            if "%" not in key:
                item.update(fields)

    return 202, change


def _retries(document: Any) -> None:
    for key, item in document.get("offsetTable", {}).items():
        if "%RETRY%" in key:
            item["maxOffset"] = 3


def _runtime(**fields: str) -> Change:
    return 28, lambda document: document["table"].update(fields)


def _group(**fields: bool) -> Change:
    return 201, lambda document: document["subscriptionGroupTable"]["group-1"].update(fields)


def _listener(minutes: float, timeout: str = "15") -> Change:
    def change(document: Any) -> None:
        document["properties"]["consumeTimeout"] = timeout
        for item in document["mqTable"].values():
            item["cachedMsgCount"] = 2
            item["lastConsumeTimestamp"] = item["lastPullTimestamp"] - int(minutes * 60_000)

    return 307, change


def _orderly(document: Any) -> None:
    document["properties"]["PROP_CONSUMEORDERLY"] = "true"
    for item in document["mqTable"].values():
        item["locked"] = False


FOUND: list[tuple[str, list[Change], int]] = [
    ("RC0201", [_connections(lambda known: known.append({**known[0], "clientAddr": "host-9:1"}))], 1),
    ("RC0203", [_connections(lambda known: known[0].update(language="CPP"))], 1),
    ("RC0204", [_second("PROP_CLIENT_VERSION", "V5_0_0")], 1),
    ("RC0205", [_second("consumeFromWhere", "CONSUME_FROM_LAST_OFFSET")], 1),
    ("RC0206", [_second("messageModel", "BROADCASTING")], 1),
    ("RC0207", [_second("allocateMessageQueueStrategy", "x.AllocateMessageQueueByConfig@1")], 1),
    ("RC0301", [_queues(_owned_by_nobody)], 15),
    ("RC0302", [_queues(_owned_twice)], 15),
    ("RC0401", [(105, lambda document: document.update(queueDatas=[]))], 15),
    ("RC0403", [_route(readQueueNums=4, writeQueueNums=6)], 1),
    ("RC0404", [_route(perm=2)], 1),
    ("RC0406", [_group(consumeEnable=False)], 1),
    ("RC0505", [_offsets(1), _stats(minOffset=3)], 1),
    ("RC0506", [_offsets(100)], 1),
    ("RC0601", [_listener(1)], 1),
    ("RC0602", [_listener(20)], 1),
    ("RC0603", [(307, _orderly)], 15),
    ("RC0701", [(202, _retries)], 3),
    ("RC0804", [_runtime(commitLogDiskRatio="0.8")], 1),
    ("RC0805", [_runtime(runtime="[ 99 days, 0 hours, 0 minutes, 0 seconds ]")], 1),
]


@pytest.mark.parametrize("recorded", ["mismatch-4.9.4.json", "mismatch-5.5.0.json"])
def test_nothing_is_found_where_nothing_is_wrong(recorded: str) -> None:
    report = diagnosed(recorded, ALIKE, looks=15)
    assert not codes(report)
    assert not report.undetermined


@pytest.mark.parametrize(("code", "changes", "looks"), [pytest.param(*item, id=item[0]) for item in FOUND])
@pytest.mark.parametrize("recorded", ["mismatch-4.9.4.json", "mismatch-5.5.0.json"])
def test_what_is_wrong_is_found(recorded: str, code: str, changes: list[Change], looks: int) -> None:
    report = diagnosed(recorded, ALIKE, *changes, looks=looks)
    assert code in codes(report), [(item.check.code, item.reason) for item in report.undetermined]
    assert code not in {item.check.code for item in report.ruled_out}


@pytest.mark.parametrize("code", ["RC0301", "RC0302", "RC0603"])
def test_what_may_be_a_moment_of_a_change_is_not_told_as_certain(code: str) -> None:
    changes = next(item[1] for item in FOUND if item[0] == code)
    report = diagnosed("mismatch-4.9.4.json", ALIKE, *changes, looks=3)
    assert code not in codes(report)
    assert code in {item.check.code for item in report.undetermined}


def test_codes_are_unique_and_each_check_looks_at_something() -> None:
    assert len(CHECKS) == len({check.code for check in CHECKS.values()})
    assert all((check.of_group is None) is not (check.of_cluster is None) for check in CHECKS.values())
    assert json.dumps(list(CHECKS))
