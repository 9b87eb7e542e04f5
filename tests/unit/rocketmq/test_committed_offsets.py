"""The offsets of a group in a broker's table of all groups."""

from __future__ import annotations

import pytest

from rocketchaos.harness.rocketmq.committed_offsets import committed_offsets
from rocketchaos.harness.rocketmq.fastjson import loads

# As a 4.9.4 broker answers GET_ALL_CONSUMER_OFFSET (43).
TABLE = (
    b'{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":1795253846548},"offsetTable":{'
    b'"t@g":{0:0,2:9223372036854775807,11:5},"%RETRY%g@g":{0:7},"t@g2":{"1":4}}}'
)


def test_only_offsets_that_exist_are_reported_and_a_stored_zero_is_one() -> None:
    assert committed_offsets(TABLE, "g", "t") == {0: 0, 2: 9223372036854775807, 11: 5}
    assert committed_offsets(TABLE, "g", "%RETRY%g") == {0: 7}
    assert committed_offsets(TABLE, "g2", "t") == {1: 4}
    assert committed_offsets(TABLE, "g3", "t") == {}


def test_what_was_pulled_is_not_what_was_committed() -> None:
    # As a 5.5.0 broker answers.
    answer = (
        b'{"dataVersion":{"counter":0,"stateVersion":0,"timestamp":1},"groupTopicMap":{"g":["t"]},"offsetTable":'
        b'{"t2@g":{0:3},"t@g2":{0:4}},"pullOffsetTable":{"t@g":{0:1,1:2},"t2@g":{0:9}}}'
    )
    assert committed_offsets(answer, "g", "t") == {}
    assert committed_offsets(answer, "g", "t2") == {0: 3}
    assert committed_offsets(answer, "g2", "t") == {0: 4}
    nothing = b'{"offsetTable":{},"pullOffsetTable":{"t@g":{0:1}}}'
    assert committed_offsets(nothing, "g", "t") == {}


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no offsetTable"):
        committed_offsets(b'{"a": 1}', "g", "t")
    with pytest.raises(ValueError, match="Expecting"):
        loads(b"{a:1}")
