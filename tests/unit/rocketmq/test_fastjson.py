"""RocketMQ's JSON is read as fastjson writes it, and what is in quotes is left alone."""

from __future__ import annotations

import pytest

from rocketchaos.harness.rocketmq.fastjson import loads


def test_numbers_and_objects_as_keys() -> None:
    assert loads(b'{1:2,{"brokerName":"b","queueId":0}:{3:[]}}') == {
        "1": 2,
        '{"brokerName":"b","queueId":0}': {"3": []},
    }


def test_text_that_looks_like_such_keys_stays() -> None:
    assert loads(b'{"sql":"a IN (\'{x}\',1:2)","q\\"":{4:"{,5:6"}}') == {
        "sql": "a IN ('{x}',1:2)",
        'q"': {"4": "{,5:6"},
    }


@pytest.mark.parametrize(
    "text", [b"", b"{", b'{"a":}', b"{1:2,}", b"[1 2]", b"{{}:1}x", b"nope", b"\xff", b"[" * 10**6]
)
def test_anything_else_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(text)
