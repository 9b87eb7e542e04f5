"""`refused-on-and-on`: brokers refuse a running member's pulls for its subscription, and don't stop."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assertions.view import RunView
from harness.model import Event
from harness.nightly.invariants.base import Breach, Judged, some
from harness.nightly.invariants.clock import line_ms
from harness.nightly.invariants.minds import disagreement

STEADY_MS = {"compressed": 3_000, "faithful": 65_000}
"""So long after anything that was done to a group its heartbeats have told the brokers all: some rounds of them
(1 s compressed, 30 s in RocketMQ)."""
AT_LEAST, SPAN_MS = 3, 1_000
"""So many refusals, the first so long before the last: one is an accident of a moment."""
_REFUSAL = re.compile(
    r"subscription (?P<what>not exist), group: (?P<group>[^\s,]+),? topic:\s*(?P<topic>\S+)"
    r"|subscription (is )?(?P<late>not latest), group: (?P<of>[^\s,]+)"
)


class RefusedOnAndOn:
    """At a start a pull may overtake its heartbeat; once all heartbeats have come no pull is refused."""

    kind = "refused-on-and-on"
    meaning = "brokers refuse pulls of running members for their subscription, long after the last change"

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        found: dict[tuple[str, str, str], list[Event]] = {}
        for line in judged.view.of_kind("log-line"):
            refusal = _REFUSAL.search(str(line.data["text"]))
            if refusal is None:
                continue
            group = refusal["group"] or refusal["of"]
            if group in judged.view.scenario.groups and _is_steady(judged.view, group, line):
                key = group, refusal["topic"] or "", refusal["what"] or refusal["late"]
                found.setdefault(key, []).append(line)
        for (group, topic, what), lines in found.items():
            times = [ms for ms in map(line_ms, lines) if ms is not None]
            if len(lines) < AT_LEAST or max(times) - min(times) < SPAN_MS:
                continue
            yield _breach(judged, group, topic, what, lines, max(times) - min(times))


def _is_steady(view: RunView, group: str, line: Event) -> bool:
    """Whether nothing had happened to the group, or to a server, for long before the line was written."""
    at_ms = line_ms(line)
    if at_ms is None:
        return False
    limit_ms = STEADY_MS.get(view.timing, STEADY_MS["faithful"])
    before = [event.n for event in view.events if event.wall_ms <= at_ms]
    last = view.last_disturbance([group], before[-1] if before else 0)
    return last is not None and at_ms - last.wall_ms >= limit_ms


def _breach(judged: Judged, group: str, topic: str, what: str, lines: list[Event], span_ms: int) -> Breach:
    view = judged.view
    why = disagreement(view, group, topic or next(iter(view.scenario.topics)), lines[0].n - 1, judged.end)
    missing = [
        event.n
        for event in view.of_kind("subscription-observed")
        if event.data["group"] == group
        and event.data["online"]
        and topic
        and topic not in event.data["subscriptions"]
    ]
    pattern = (
        f"subscription not exist, group: {group}, topic:{topic}" if topic else f"not latest, group: {group}"
    )
    node = lines[0].node
    return Breach(
        group=group,
        cause=f"subscription {what}; {why}",
        sentence=f"{node} refused {len(lines)} pulls of {group}{f' for {topic}' if topic else ''} within "
        f"{span_ms / 1000:.1f} s, `subscription {what}`, long after anything had changed"
        + (f"; {len(missing)} looks show the group's table without {topic}" if missing else ""),
        events=some([*(line.n for line in lines[:6]), *missing[-6:]]),
        anomaly=({"log": {"node": node, "matches": pattern, "at_least": AT_LEAST}},),
        healthy=({"log": {"node": node, "matches": pattern, "count": 0}},),
    )
