"""A slave has what its master has: messages, topics and groups, or offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.fastjson import loads

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

_STATE = (remoting.GET_BROKER_RUNTIME_INFO, "table")
_TABLES = {
    "topic": (remoting.GET_ALL_TOPIC_CONFIG, "topicConfigTable"),
    "group": (remoting.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, "subscriptionGroupTable"),
}
_OFFSETS = (remoting.GET_ALL_CONSUMER_OFFSET, "offsetTable")


def slave_copied(context: ProbeContext, slave: str) -> Seen:
    """Whether a slave has the messages, topics and groups that its master has now.

    It copies the commit log all the time. Topics, groups and offsets it copies every 10 s, from 5.0.0 on 10 s
    after its start and then every 60 s (`BrokerController.handleSlaveSynchronize`, `SlaveSynchronize.syncAll`).
    """
    return _compared(context, slave, _stored)


def offsets_copied(context: ProbeContext, slave: str) -> Seen:
    """Whether a slave has the offsets of groups that its master has now, or later ones.

    Slaves of 5.5.0 can't read them (apache/rocketmq#10284), unless the master has none.
    """
    return _compared(context, slave, _offsets)


def _compared(context: ProbeContext, slave: str, lacking: Callable[[str, str], Iterator[str]]) -> Seen:
    master, known = context.servers.master_of(slave), context.servers.node_addresses
    if slave == master:
        return Seen(False, f"{slave} is the master")
    for name in (master, slave):
        if name not in known:
            return Seen(False, f"{name} can't be asked: it is {context.servers.down.get(name)}")
    try:
        lacks = list(lacking(known[master], known[slave]))
    except OSError as error:
        return Seen(False, f"{master} or {slave} doesn't answer: {error}")
    return Seen(not lacks, f"{slave} lacks {'; '.join(lacks)}" if lacks else f"{slave} has all of {master}")


# The master is asked first: what comes to it in between doesn't count.
def _stored(master: str, slave: str) -> Iterator[str]:
    ends = [int(_table(address, *_STATE)["commitLogMaxOffset"]) for address in (master, slave)]
    if ends[0] > ends[1]:
        yield f"{counted(ends[0] - ends[1], 'byte')} of the commit log"
    for kind, asked in _TABLES.items():
        theirs, own = _table(master, *asked), _table(slave, *asked)
        if missing := sorted(set(theirs) - set(own)):
            yield f"the {kind} {', '.join(missing)}"


def _offsets(master: str, slave: str) -> Iterator[str]:
    theirs, own = _table(master, *_OFFSETS), _table(slave, *_OFFSETS)
    for place, queues in theirs.items():
        copied = own.get(place, {})
        if any(copied.get(queue, -1) < offset for queue, offset in queues.items()):
            yield f"offsets of {place}"


def _table(address: str, code: int, table: str) -> Any:
    """A table that a broker has.

    Raises:
        OSError: it doesn't answer, refuses, or answers something else.
    """
    answer = remoting.ask(address, code)
    try:
        return loads(answer.body)[table]
    except (ValueError, KeyError, TypeError):
        raise OSError(f"code {answer.code}, {answer.remark}") from None
