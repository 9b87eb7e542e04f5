"""`offset-backwards`: a group's stored offset ran back, further than anything explains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assertions.view import RunView, queue_name
from harness.campaign import DEFAULT_VERSION
from harness.model import Event
from harness.nightly.invariants.base import Breach, Judged, some
from harness.nightly.invariants.causes import moving
from harness.timers import timers_ms
from harness.timing import FAITHFUL, PROFILES

LOOK_SLACK_MS = 3_000
"""A look shows what was so some time ago, and a flush takes its time on a busy machine."""


@dataclass(frozen=True, slots=True)
class _Fall:
    topic: str
    queue: str
    before: Event
    after: Event
    high: int
    low: int


class OffsetBackwards:
    """Only a reset, a broker's death, by its flush interval at most, or a former owner's late persist do that."""

    kind = "offset-backwards"
    meaning = "a group's offset ran back without a reset, a broker's death or a change of owners"

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        view = judged.view
        found: dict[tuple[str, str], list[_Fall]] = {}
        for group in view.scenario.groups:
            for fall in _falls(view, group):
                cause = _unexplained(view, group, fall)
                if cause is not None:
                    found.setdefault((group, cause), []).append(fall)
        for (group, cause), falls in found.items():
            one = falls[0]
            yield Breach(
                group=group,
                cause=cause,
                sentence=f"the offset of {group} for {one.queue} of {one.topic} ran back from {one.high} to "
                f"{one.low}; {cause}; {len(falls)} such falls",
                events=some([number for fall in falls for number in (fall.before.n, fall.after.n)]),
            )


def _falls(view: RunView, group: str) -> Iterator[_Fall]:
    last: dict[tuple[str, str], tuple[int, Event]] = {}
    for event in view.of_kind("offsets-observed"):
        if event.data["group"] != group:
            continue
        for queue in event.data["queues"]:
            where = str(event.data["topic"]), queue_name(queue["broker"], queue["queue_id"])
            offset = queue["consumer_offset"]
            if offset is None:
                continue  # not stored, or not to be read: no offset at all
            if where in last and offset < last[where][0]:
                yield _Fall(*where, last[where][1], event, last[where][0], offset)
            last[where] = offset, event


def _unexplained(view: RunView, group: str, fall: _Fall) -> str | None:
    """Why nothing explains a fall; None where something does."""
    if any(
        fall.before.n <= event.n <= fall.after.n and event.data["group"] == group
        for event in view.of_kind("offsets-reset")
    ):
        return None
    broker = fall.queue.rpartition(":")[0]
    deaths = [
        event
        for event in view.of_kind("fault-effective", until=fall.after.n)
        if (event.data["fault"], event.data["target"]) == ("kill", broker) and event.n > fall.before.n
    ]
    if deaths:
        known = _known_before(view, group, fall, deaths[-1])
        return "more was forgotten than a broker's flush interval" if known > fall.low else None
    return None if moving(view, group, fall.before, fall.after) else "nothing had moved the queue"


def _flush_ms(view: RunView) -> int:
    """flushConsumerOffsetInterval: what a broker forgets at most where it dies."""
    # Which version and clients it is doesn't matter for a broker's own interval.
    profile = PROFILES.get(view.timing, FAITHFUL)
    return timers_ms(profile, DEFAULT_VERSION, ())["broker.flush-offsets"]


def _known_before(view: RunView, group: str, fall: _Fall, death: Event) -> int:
    """The offset that was seen long enough before the broker's death to have been flushed."""
    limit_ms = _flush_ms(view) + LOOK_SLACK_MS
    seen = [
        queue["consumer_offset"] or 0
        for event in view.of_kind("offsets-observed", until=death.n)
        if (event.data["group"], event.data["topic"]) == (group, fall.topic)
        and (death.mono_ns - event.mono_ns) / 1e6 > limit_ms
        for queue in event.data["queues"]
        if queue_name(queue["broker"], queue["queue_id"]) == fall.queue
    ]
    return max(seen, default=0)
