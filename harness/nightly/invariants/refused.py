"""`refused-on-and-on`: brokers refuse running members' pulls for their subscription, and don't stop."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.core.events.run import Step, StepStarted
from rocketchaos.harness.core.events.servers import LogLine
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.fault_registry import ENDINGS, PROCESS_FAULTS
from rocketchaos.harness.nightly.invariants.base import Breach, Judged, some
from rocketchaos.harness.nightly.invariants.causes import Move, movers
from rocketchaos.harness.nightly.invariants.disagreement import disagreement

_ZONE_MS = 15 * 60 * 1000
"""Zones of time differ by quarters of an hour."""


def line_ms(event: Event[LogLine]) -> int | None:
    """When a `log-line` was written, as events' `wall_ms`; None if the line has no time.

    A log has the local time without its zone. The line is older than the event by which it was read, by less than
    a quarter of an hour: so the zone follows from the two.
    """
    text = event.body.time
    if not text:
        return None
    plain = text.replace(",", ".").replace("T", " ")
    form = "%Y-%m-%d %H:%M:%S.%f" if "." in plain else "%Y-%m-%d %H:%M:%S"
    naive_ms = round(datetime.strptime(plain, form).replace(tzinfo=UTC).timestamp() * 1000)
    zone_ms = math.ceil((naive_ms - event.wall_ms) / _ZONE_MS) * _ZONE_MS
    return naive_ms - zone_ms


STEADY_MS = {"compressed": 3_000, "faithful": 65_000}
"""How long after any change of a group its heartbeats have reached all brokers: some rounds of them
(1 s compressed, 30 s in RocketMQ)."""
AT_LEAST, FALLS = 3, 2
"""The limits: of refusals, and of losses of a subscription that a heartbeat had brought."""
_DOING = frozenset({"start", "subscribe", "unsubscribe", *PROCESS_FAULTS, *ENDINGS})
_REFUSAL = re.compile(
    r"subscription (?P<what>not exist), group: (?P<group>[^\s,]+),? topic:\s*(?P<topic>\S+)"
    r"|subscription (is )?(?P<late>not latest), group: (?P<of>[^\s,]+)"
)


@dataclass(frozen=True, slots=True)
class _Refusals:
    """Of one group, topic and kind, in a stretch in which nothing was done to the group."""

    group: str
    topic: str
    """Empty if the line names none."""
    what: str
    lines: list[Event[LogLine]]
    falls: list[Event]
    """Looks that show the table without what it had before, or with an older version of it."""


class RefusedOnAndOn:
    """A pull may overtake the heartbeat that carries its subscription, and is refused until that has come.

    On a busy machine that may take its time. But its subscription stays after that. If it vanishes again and
    again, with no act on the group, the members do that to each other.
    """

    kind = "refused-on-and-on"
    meaning = "pulls are refused while members' heartbeats undo each other, long after the last change"
    judges_unsettled = False

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        reported: set[tuple[str, str, str]] = set()
        for refusal in _refusals(judged.view):
            key = refusal.group, refusal.topic, refusal.what
            if len(refusal.lines) >= AT_LEAST and len(refusal.falls) >= FALLS and key not in reported:
                reported.add(key)
                yield _breach(judged, refusal)


def _refusals(view: RunView) -> Iterator[_Refusals]:
    rests = {group: _Rest(view, group) for group in view.scenario.groups}
    found: dict[tuple[str, str, str, float], list[Event[LogLine]]] = {}
    for line in view.of_kind(LogLine):
        refusal = _REFUSAL.search(line.body.text)
        at_ms = line_ms(line)
        group = None if refusal is None else refusal["group"] or refusal["of"]
        if refusal is None or at_ms is None or group not in rests:
            continue
        since_ms = rests[group].since_ms(at_ms)
        if since_ms is not None:
            key = group, refusal["topic"] or "", refusal["what"] or refusal["late"], since_ms
            found.setdefault(key, []).append(line)
    for (group, topic, what, since_ms), lines in found.items():
        falls = _falls(view, group, since_ms, rests[group].until_ms(since_ms))
        yield _Refusals(group, topic, what, lines, falls)


class _Rest:
    """When nothing was done to a group, all through a run; times are events' `wall_ms`."""

    def __init__(self, view: RunView, group: str) -> None:
        self._limit_ms = STEADY_MS.get(view.timing, STEADY_MS["faithful"])
        self._moved_ms = sorted({_span_ms(move) for move in movers(view, group)})
        """From when to when each thing happened that was only seen; of all others both are the same."""
        self._doing_ms = list(_doing_ms(view))

    def since_ms(self, at_ms: int) -> float | None:
        """When the last thing had happened to the group, long before; None: it was just now, or is under way."""
        last = max((end for _, end in self._moved_ms if end <= at_ms), default=None)
        under_way = any(begin <= at_ms <= end for begin, end in [*self._moved_ms, *self._doing_ms])
        return None if last is None or at_ms - last < self._limit_ms or under_way else last

    def until_ms(self, since_ms: float) -> float:
        """When the next thing may have begun to happen after that one."""
        return min((begin for begin, end in self._moved_ms if end > since_ms), default=float("inf"))


def _span_ms(move: Move) -> tuple[float, float]:
    """From when to when it may have happened."""
    end_ms = move.event.wall_ms
    return end_ms - (move.until_ns - move.since_ns) / 1e6, end_ms


def _doing_ms(view: RunView) -> Iterator[tuple[int, float]]:
    """From when to when steps did something to members or servers; a start may take long on a busy machine."""
    open_ones: dict[tuple[object, ...], int] = {}
    for event in view.events:
        if not isinstance(event.body, Step) or event.body.step not in _DOING:
            continue
        key = event.body.identity
        if isinstance(event.body, StepStarted):
            open_ones[key] = event.wall_ms
        elif key in open_ones:
            yield open_ones.pop(key), event.wall_ms
    yield from ((begin, float("inf")) for begin in open_ones.values())


def _falls(view: RunView, group: str, first_ms: float, last_ms: float) -> list[Event]:
    found: list[Event] = []
    before: dict[str, dict[str, int]] = {}
    for event in view.of_kind(SubscriptionObserved):
        if event.body.group != group or not event.body.online:
            continue
        held = {topic: subscription.sub_version for topic, subscription in event.body.subscriptions.items()}
        last = before.get(event.body.broker, {})
        if first_ms <= event.wall_ms <= last_ms and any(
            held.get(topic, -1) < version for topic, version in last.items()
        ):
            found.append(event)
        before[event.body.broker] = held
    return found


def _last_by(view: RunView, at_ms: int) -> int:
    """The number of the last event by then."""
    return max((event.n for event in view.events if event.wall_ms <= at_ms), default=0)


def _breach(judged: Judged, refusal: _Refusals) -> Breach:
    view, lines = judged.view, refusal.lines
    topic = refusal.topic or next(iter(view.scenario.topics))
    times = [ms for ms in map(line_ms, lines) if ms is not None]
    # Lines are read at the end, when members may have gone: who disagreed is asked of the time of the refusals.
    first, last = (_last_by(view, ms) for ms in (min(times), max(times)))
    pattern = (
        f"subscription not exist, group: {refusal.group}, topic:{refusal.topic}"
        if refusal.topic
        else f"subscription is not latest, group: {refusal.group}"
    )
    return Breach(
        group=refusal.group,
        code=f"refused-on-and-on-{refusal.what.replace(' ', '-')}-"
        f"{disagreement(view, refusal.group, topic, first, last)}",
        sentence=f"{lines[0].node} refused {len(lines)} pulls of {refusal.group}"
        + (f" for {refusal.topic}" if refusal.topic else "")
        + f" within {(max(times) - min(times)) / 1000:.1f} s, `subscription {refusal.what}`, while nothing was "
        f"done to the group; {len(refusal.falls)} looks show that a heartbeat had undone what another one had "
        "brought",
        events=some([*(line.n for line in lines[:6]), *(event.n for event in refusal.falls[:6])]),
        anomaly=({"log": {"node": lines[0].node, "matches": pattern, "at_least": AT_LEAST}},),
        healthy=({"log": {"node": lines[0].node, "matches": pattern, "count": 0}},),
    )
