"""Slaves that don't copy the offsets of their master's groups."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import Look
from rocketchaos.harness.diagnose.view import ClusterView
from rocketchaos.harness.diagnose.words import counted, joined

_COPIES_WITHIN_S = 75.0
"""A slave copies all offsets every 60 s, and looks every 3 s whether it is time (BrokerController, 5.5.0); one of
4.9 copies them every 10 s."""


def lacking(view: ClusterView) -> Iterator[Result]:
    """Registered slaves without any offset, or with less than their master had a minute ago."""
    for name, copies in view.now.copies.items():
        masters = view.now.offset_tables.get(name)
        if masters is None or not masters.succeeded:
            continue  # RC0803 tells
        for number, answer in copies.offsets.items():
            slave = f"{name} {number} at {view.now.brokers[name].slaves[number]}"
            if not answer.succeeded:
                yield Unknown(
                    f"the slave {slave} doesn't report the offsets that it has copied: {answer.why_not}",
                    (Evidence(answer, answer.why_not),),
                )
            elif (known := read.known_groups(masters)) and read.known_groups(answer) == 0:
                yield Found(
                    f"the slave {slave} has no offsets; its master has those of {counted(known, 'group')}",
                    (
                        Evidence(masters, f"offsets of {counted(known, 'group')}"),
                        Evidence(answer, "no offsets"),
                    ),
                    settled=False,
                    key=f"{name} {number} offsets",
                    lasts_s=_COPIES_WITHIN_S,
                )
            elif groups := _behind(view, name, answer):
                yield Found(
                    f"the slave {slave} lacks offsets of {joined(groups)} that its master had "
                    f"{_COPIES_WITHIN_S:.0f} s ago",
                    (
                        Evidence(masters, f"offsets of {joined(groups)}"),
                        Evidence(answer, "lower ones, or none"),
                    ),
                )


def _behind(view: ClusterView, name: str, slave: Exchange) -> list[str]:
    """The groups whose offsets a slave lacks, of those that are looked at; none where no look is old enough."""
    then = view.now.at_ms - int(_COPIES_WITHIN_S * 1000)
    old = [look for look in view.looks if look.at_ms <= then]
    copied = read.offsets(slave)
    # An offset that was set back meanwhile may be copied already, or not.
    since = view.looks[len(old) - 1 :] if old else ()
    return sorted(
        group
        for group, topics in (old[-1].offsets.get(name, {}) if old else {}).items()
        if any(
            copied.get(group, {}).get(topic, {}).get(queue, 0)
            < min(_offset(look, name, group, topic, queue) for look in since)
            for topic, queues in topics.items()
            for queue in queues
        )
    )


def _offset(look: Look, name: str, group: str, topic: str, queue: int) -> int:
    return look.offsets.get(name, {}).get(group, {}).get(topic, {}).get(queue, 0)


CHECKS = (
    Check(
        "RC0815",
        "a slave doesn't copy the offsets of groups",
        Level.WARNING,
        "every registered slave copies the offsets of groups",
        "If the master fails, members that go on with the slave begin at its older offsets: messages that they "
        "have handled come again. Without any offset they begin at the first message, or, if the first ones are "
        "deleted, where consumeFromWhere says.",
        (
            "Look for `SyncConsumerOffset Exception` in the slave's broker.log. A slave of 5.5.0 can't read its "
            "master's offsets (apache/rocketmq#10284): take a newer version, or 5.4.0. "
            "`rocketchaos reproduce slave-copies-no-offsets` shows what follows.",
            "Check that the slave reaches its master's listenPort.",
        ),
        of_cluster=lacking,
    ),
)
