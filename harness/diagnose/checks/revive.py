"""Popped messages that nobody acknowledged, and that their broker doesn't put back (5.x)."""

from collections.abc import Iterator
from dataclasses import dataclass

from rocketchaos.harness.diagnose import read, requests
from rocketchaos.harness.diagnose.checks import timers
from rocketchaos.harness.diagnose.checks.cluster import now_ms
from rocketchaos.harness.diagnose.checks.delays import unanswered
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import Backlog, Broker
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import ClusterView
from rocketchaos.harness.diagnose.words import clock, counted, joined

_LATE_MS = 60_000
"""A broker stores an entry when it is due, and handles it within seconds (PopReviveService, 5.0 to 5.5.0)."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A revive queue with an entry that has been due for a while."""

    number: int
    begin: int
    """The offset of the first entry that isn't handled."""
    end: int
    stored_ms: int
    late_ms: float
    entries: Exchange
    checkpoint: Exchange


def behind(view: ClusterView) -> Iterator[Result]:
    """Brokers whose revive queues stand still while entries are due, or whose timer takes no entries."""
    silent = {
        name: item
        for name, known in view.now.backlogs.items()
        for item in _silent(view.now.brokers[name], known)
    }
    yield from unanswered("popped messages", silent)
    if kept := sorted(name for name in view.now.backlogs if _in_a_store_of_its_own(view.now.brokers[name])):
        yield Unknown(
            f"{joined(kept)} {'keeps' if len(kept) == 1 else 'keep'} popped messages where no request sees them: "
            "popConsumerKVServiceEnable is true",
            tuple(
                Evidence(item, "its configuration") for name in kept for item in _configurations(view, name)
            ),
        )
    for name, backlog in view.now.backlogs.items():
        if due := list(_due(view, name, backlog)):
            count = sum(item.end - item.begin for item in due)
            numbers = joined([str(item.number) for item in due])
            yield Found(
                f"{name} doesn't handle {counted(count, 'entry', 'entries')} of popped messages, in revive "
                f"{'queue' if len(due) == 1 else 'queues'} {numbers}; one has been due for "
                f"{max(item.late_ms for item in due) / 1000:.0f} s",
                tuple(said for item in due for said in _evidence(item)),
                settled=False,
                key=f"{name} {[(item.number, item.begin) for item in due]}",
            )
    yield from timers.popped(view)


def _in_a_store_of_its_own(broker: Broker) -> bool:
    """RocksDB in place of the revive topic (PopConsumerService, 5.3.3)."""
    return broker.config.get("popConsumerKVServiceEnable") == "true"


def _configurations(view: ClusterView, name: str) -> Iterator[Exchange]:
    yield from (item for item in view.now.brokers[name].asked if item.code == requests.GET_BROKER_CONFIG)


def _due(view: ClusterView, name: str, backlog: Backlog) -> Iterator[_Due]:
    for queue, checkpoint in sorted(backlog.checkpoints.items()):
        stored_ms = whole(read.mapping(checkpoint.document).get("storedAt"))
        late_ms = now_ms(view, name, checkpoint) - stored_ms
        if stored_ms and late_ms > _LATE_MS:
            entries = backlog.revive_entries[queue]
            begin = whole(entries.fields.get("index"))
            end = whole(read.mapping(entries.document).get("maxQueueIndex"))
            yield _Due(queue, begin, end, stored_ms, late_ms, entries, checkpoint)


def _evidence(item: _Due) -> tuple[Evidence, ...]:
    return (
        Evidence(item.entries, f"queue {item.number}: offset {item.begin}, it ends at {item.end}"),
        Evidence(item.checkpoint, f"stored at {clock(item.stored_ms)}"),
    )


def _silent(broker: Broker, backlog: Backlog) -> Iterator[Exchange]:
    asked = (backlog.revive, *backlog.revive_entries.values(), *backlog.checkpoints.values())
    if not broker.runtime:
        asked = (backlog.delayed,)  # it is unknown whether it is of 5.x
    for item in asked:
        if item is not None and not item.succeeded and item.answer_code != read.NO_TOPIC:
            yield item
    if backlog.timer is not None:
        yield from timers.silent(backlog.timer)


CHECKS = (
    Check(
        "RC0814",
        "popped messages don't come back",
        Level.WARNING,
        "brokers put popped messages back in time",
        "Messages that a member popped and didn't acknowledge come to no other member until the broker handles "
        "these entries. The group's offset has passed them: no lag shows them.",
        (
            "Read pop.log and storeerror.log of that broker: a topic that was deleted, a full disk, or an error "
            "that repeats stops the queue.",
            "Check the broker's reviveInterval (default 1000 ms) and timerStopEnqueue (false): "
            "`mqadmin getBrokerConfig`. Then restart the broker.",
        ),
        of_cluster=behind,
    ),
)
