"""`offset-backwards`: a group's stored offset ran back, further than anything explains."""

from __future__ import annotations

from collections.abc import Iterator

from assertions.offset_falls import Fall, falls_of
from assertions.view import RunView, queue_name
from harness.campaign import DEFAULT_VERSION
from harness.model import Event
from harness.nightly.invariants.base import Breach, Judged, some
from harness.nightly.invariants.causes import moving
from harness.reporters.parts.text import counted
from harness.timers import timers_ms
from harness.timing import FAITHFUL, PROFILES

FIRST_FLUSH_MS = 10_000
"""A broker flushes no offsets before it is so old, whatever its interval (`BrokerController`, 4.9.4 and 5.3.3)."""
LOOK_SLACK_MS = 3_000
"""A look shows what was so some time ago, and a flush takes its time on a busy machine."""


class OffsetBackwards:
    """Only a reset, a broker's death, by its flush interval at most, or a former owner's late persist do that."""

    kind = "offset-backwards"
    meaning = "a group's offset ran back without a reset, a broker's death or a change of owners"

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        view = judged.view
        found: dict[tuple[str, str], list[Fall]] = {}
        for group in view.scenario.groups:
            for fall in falls_of(view, group, judged.end):
                cause = _unexplained(view, group, fall)
                if cause is not None:
                    found.setdefault((group, cause), []).append(fall)
        for (group, cause), falls in found.items():
            one = falls[0]
            yield Breach(
                group=group,
                cause=cause,
                sentence=f"the offset of {group} for {one.queue} of {one.topic} ran back from {one.high} to "
                f"{one.low}; {cause}; {counted(len(falls), 'such fall')}",
                events=some([number for fall in falls for number in (fall.before.n, fall.after.n)]),
                anomaly=({"offset-falls": {"group": group, "topic": one.topic, "at_least": 1}},),
                healthy=({"offset-falls": {"group": group, "topic": one.topic, "count": 0}},),
            )


def _unexplained(view: RunView, group: str, fall: Fall) -> str | None:
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


def _known_before(view: RunView, group: str, fall: Fall, death: Event) -> int:
    """The offset that was seen long enough before the broker's death to have been flushed; 0: none was."""
    limit_ms = _flush_ms(view) + LOOK_SLACK_MS
    starts = [one for one in view.of_kind("node-ready", until=death.n) if one.node == death.data["target"]]
    if not starts or (death.mono_ns - starts[-1].mono_ns) / 1e6 < FIRST_FLUSH_MS + limit_ms:
        return 0
    seen = [
        queue["consumer_offset"] or 0
        for event in view.of_kind("offsets-observed", until=death.n)
        if (event.data["group"], event.data["topic"]) == (group, fall.topic)
        and (death.mono_ns - event.mono_ns) / 1e6 > limit_ms
        for queue in event.data["queues"]
        if queue_name(queue["broker"], queue["queue_id"]) == fall.queue
    ]
    return max(seen, default=0)
