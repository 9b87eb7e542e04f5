"""Messages that brokers keep back until their delay is over: those that wait, and those that are overdue."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.checks import timers
from rocketchaos.harness.diagnose.checks.cluster import now_ms
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import Backlog, Broker
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import ClusterView
from rocketchaos.harness.diagnose.words import clock, counted, joined

_OVERDUE_MS = 30_000
"""A broker delivers within a second (ScheduleMessageService; 4.9.4, 5.5.0); its clock may be a few seconds off."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The messages of one delay level that a broker hasn't delivered yet."""

    level: int
    count: int
    offset: int
    """Of the first one."""
    due_ms: int
    """When the first one is due, by the broker's clock; 0: unknown."""
    late_ms: float
    """For how long it has been due."""
    exchange: Exchange


def overdue(view: ClusterView) -> Iterator[Result]:
    """Delay levels whose first message should have come."""
    silent = {name: item for name, known in view.now.backlogs.items() for item in _silent(known)}
    yield from unanswered("delayed messages", silent)
    for name, backlog in view.now.backlogs.items():
        for item in filter(lambda item: item.late_ms > _OVERDUE_MS, _waiting(view, name)):
            yield Found(
                f"{name} keeps {counted(item.count, 'message')} of delay level {item.level}"
                f"{_delay(view.now.brokers[name], item.level)}, the first of which was due "
                f"{item.late_ms / 1000:.0f} s ago",
                (
                    Evidence(item.exchange, f"the first one is due at {clock(item.due_ms)}"),
                    *_offsets(backlog, item),
                ),
                settled=False,
                key=f"{name} {item.level} {item.offset}",
            )
    yield from timers.timed(view)


def waiting(view: ClusterView) -> Iterator[Result]:
    """How many messages wait for their delay, by broker."""
    for name in view.now.backlogs:
        found = [item for item in _waiting(view, name) if item.late_ms <= _OVERDUE_MS]
        if found:
            levels = [
                f"{item.count} of level {item.level}{_delay(view.now.brokers[name], item.level)}"
                + (f", the first one until {clock(item.due_ms)} by its clock" if item.due_ms else "")
                for item in found
            ]
            yield Found(
                f"{name} keeps delayed messages: {joined(levels)}",
                tuple(
                    Evidence(item.exchange, f"the first one is due at {clock(item.due_ms)}") for item in found
                ),
                key=name,
            )


def unanswered(what: str, silent: Mapping[str, Exchange]) -> Iterator[Unknown]:
    """What some brokers didn't report; by broker, the answer that lacks."""
    if silent:
        why_not = next(iter(silent.values())).why_not
        dont, whose = ("doesn't", "its") if len(silent) == 1 else ("don't", "their")
        yield Unknown(
            f"{joined(sorted(silent))} {dont} report {whose} {what}: {why_not}",
            tuple(Evidence(item, item.why_not) for item in silent.values()),
        )


def _silent(backlog: Backlog) -> Iterator[Exchange]:
    for item in (backlog.delayed, backlog.delay_offsets, *backlog.next_delayed.values()):
        if item is not None and not item.succeeded and item.answer_code != read.NO_TOPIC:
            yield item
    if backlog.timer is not None:
        yield from timers.silent(backlog.timer)


def _waiting(view: ClusterView, broker: str) -> Iterator[_Waiting]:
    backlog = view.now.backlogs[broker]
    ends = {queue[1] + 1: item.max_offset for queue, item in read.ends(backlog.delayed).items()}
    for level, exchange in sorted(backlog.next_delayed.items()):
        offset = whole(exchange.fields.get("index"))
        due = [whole(item.get("tagsCode")) for item in read.queue_data(exchange)][:1]
        late_ms = now_ms(view, broker, exchange) - due[0] if due else 0
        yield _Waiting(
            level, ends.get(level, offset) - offset, offset, due[0] if due else 0, late_ms, exchange
        )


def _delay(broker: Broker, level: int) -> str:
    """The delay of a level, by the broker's settings, as a phrase."""
    levels = broker.config.get("messageDelayLevel", "").split()
    if levels and level > len(levels):
        return f", which its messageDelayLevel no longer has (`{' '.join(levels)}`)"
    return f" ({levels[level - 1]})" if 0 < level <= len(levels) else ""


def _offsets(backlog: Backlog, item: _Waiting) -> tuple[Evidence, ...]:
    known: Mapping[int, int] = read.delay_offsets(backlog.delay_offsets) if backlog.delay_offsets else {}
    return (
        Evidence(backlog.delayed, f"queue {item.level - 1} ends at {item.offset + item.count}"),
        *(
            [Evidence(backlog.delay_offsets, f"level {item.level} is at {known.get(item.level, 0)}")]
            if backlog.delay_offsets
            else []
        ),
    )


CHECKS = (
    Check(
        "RC0811",
        "delayed messages are overdue",
        Level.ERROR,
        "no delayed message is overdue",
        "They reach no consumer until the broker delivers them. Retries wait in the same levels: the first one is "
        "of level 3, 10 s.",
        (
            "Read storeerror.log and store.log of that broker: a wrong delayOffset.json, a full disk, or a topic "
            "that no longer exists stops a level.",
            "If its messageDelayLevel was shortened, give it back the levels that have messages.",
            "If timerStopEnqueue is true, set it to false: `mqadmin updateBrokerConfig`.",
            "Restart the broker: from 4.9.3 on it corrects wrong offsets of levels at its start.",
        ),
        of_cluster=overdue,
    ),
    Check(
        "RC0812",
        "messages wait for their delay",
        Level.INFO,
        "",
        "None by itself: a producer asked for the delay, or they are retries. Until then no consumer gets them, "
        "and no lag shows them.",
        ("Nothing, if the delay is meant. Otherwise correct the producer's delay level.",),
        of_cluster=waiting,
    ),
)
