"""Records of the message trace, as real clients of two versions wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.rocketmq.message_trace import TraceRecord, decode_trace

RECORDED = Path(__file__).parents[2] / "recorded" / "message_trace"


def recorded(name: str) -> list[TraceRecord]:
    """The records of a real body; Wayward.java wrote it, as a member of the group `g`."""
    return list(decode_trace((RECORDED / f"{name}.bin").read_bytes().decode()))


@pytest.mark.parametrize(
    ("name", "keys", "succeeded"),
    [
        ("4.9.4-fails", ["orders-1", "orders-2", "orders-5", "orders-6"], False),
        ("4.9.4-succeeds", ["orders-3", "orders-4", "orders-7", "orders-8"], True),
        ("5.5.0-fails", ["orders-1"], False),
        ("5.5.0-succeeds", ["orders-3", "orders-4", "orders-7", "orders-8"], True),
    ],
)
def test_each_call_has_a_record_before_and_one_after(name: str, keys: list[str], succeeded: bool) -> None:
    records = recorded(name)
    before = {(item.request_id, item.msg_id): item for item in records if not item.returned}
    after = {(item.request_id, item.msg_id): item for item in records if item.returned}
    assert before.keys() == after.keys()
    assert sorted(item.keys for item in before.values()) == keys
    assert {call: item.keys for call, item in before.items()} == {
        call: item.keys for call, item in after.items()
    }
    assert {item.group for item in records} == {"g"}
    assert {item.succeeded for item in after.values()} == {succeeded}


def test_records_of_producers_are_left_out_and_a_group_may_be_missing() -> None:
    text = "Pub\x011\x01r\x01g\x01orders\x01id\x02SubAfter\x01req\x01id\x013\x01true\x01orders-1 A17\x010\x02"
    assert list(decode_trace(text)) == [TraceRecord(True, "req", "id", "orders-1 A17", "", True)]
    assert list(decode_trace("")) == []


@pytest.mark.parametrize("text", ["SubBefore\x011\x01r\x01g\x02", "SubAfter\x01req\x02"])
def test_a_record_that_is_cut_off_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="fields, and needs"):
        list(decode_trace(text))
