"""The offsets that a broker holds for a group, out of its table of all groups."""

import re

from rocketchaos.harness.rocketmq.fastjson import loads

_OFFSET_TABLE = re.compile(rb'"offsetTable"\s*:\s*\{((?:[^{}]*\{[^{}]*\})*)\s*\}')
"""A map of flat maps."""


def committed_offsets(body: bytes, group: str, topic: str) -> dict[int, int]:
    """By queue id, the offsets in a broker's answer to GET_ALL_CONSUMER_OFFSET (43); only those that exist.

    Raises:
        ValueError: the body is no table of offsets.
    """
    # Only this entry is read: the table has one for every topic of every group that the broker ever had.
    table = _OFFSET_TABLE.search(body)
    if table is None:
        raise ValueError(f"no offsetTable in {body[:200]!r}")
    key = re.escape(f"{topic}@{group}".encode())
    # 5.x goes on with a pullOffsetTable, whose entries are called the same.
    entry = re.compile(rb'"%s"\s*:\s*(\{[^{}]*\})' % key).search(body, table.start(1), table.end(1))
    return {} if entry is None else {int(queue): int(offset) for queue, offset in loads(entry[1]).items()}
