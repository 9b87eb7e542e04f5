"""`offset-backwards`: a group's stored offset ran back, and nothing explains it."""

from collections.abc import Iterator

from rocketchaos.assertions.offset_falls import Fall, falls_of
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import OffsetsReset
from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.core.events.servers import FaultEffective, NodeReady
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.language.fault_effects import KILLS
from rocketchaos.harness.nightly.codes import CODES
from rocketchaos.harness.nightly.invariants.base import Breach, Judged, some
from rocketchaos.harness.nightly.invariants.causes import Move, began_ns, moving
from rocketchaos.harness.plan.options import DEFAULT_VERSION
from rocketchaos.harness.rocketmq.timers import timers_ms
from rocketchaos.harness.rocketmq.timing_profiles import FAITHFUL, PROFILES

FIRST_FLUSH_MS = 10_000
"""A broker of a lower age has flushed no offsets, whatever its interval (`BrokerController`, 4.9.4 and 5.3.3)."""
LOOK_SLACK_MS = 3_000
"""A look shows a state of some time ago, a flush takes time on a busy machine, and the offset in a pull is stored
a little late."""

_Proof = list[Event]
"""At most this many looks in addition to the two that show the fall."""


class OffsetBackwards:
    """Only three events do that: a reset, a broker's death, by its flush interval at most, and a former owner's
    late persist. A former owner persists its own count. That is at least the offset that was stored before
    anything began to move the queue, because its owner then had stored that itself, or had begun from there.
    """

    kind = "offset-backwards"
    meaning = (
        "a group's offset ran back without a reset, a broker's death or a change of owners, or further than those "
        "explain"
    )
    judges_unsettled = False

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        view = judged.view
        found: dict[tuple[str, str], list[tuple[Fall, _Proof]]] = {}
        for group in view.scenario.groups:
            for fall in falls_of(view, group, judged.end):
                unexplained = _unexplained(view, group, fall)
                if unexplained is not None:
                    code, proof = unexplained
                    found.setdefault((group, code), []).append((fall, proof))
        for (group, code), falls in found.items():
            item = falls[0][0]
            yield Breach(
                group=group,
                code=code,
                sentence=f"the offset of {group} for {item.queue} of {item.topic} ran back from {item.high} to "
                f"{item.low}; {CODES[code].cause}; {counted(len(falls), 'such fall')}",
                events=some(
                    [event.n for fall, proof in falls for event in (*proof, fall.before, fall.after)]
                ),
                anomaly=({"offset-falls": {"group": group, "topic": item.topic, "at_least": 1}},),
                healthy=({"offset-falls": {"group": group, "topic": item.topic, "count": 0}},),
            )


def _unexplained(view: RunView, group: str, fall: Fall) -> tuple[str, _Proof] | None:
    """The code of why nothing explains a fall, and more events that prove it; None if something explains it."""
    if any(event.n >= fall.before.n for event in _resets(view, group, fall)):
        return None
    deaths = [event for event in _deaths(view, fall) if event.n > fall.before.n]
    if deaths:
        known = _known_before_death(view, group, fall, deaths[-1])
        return ("offset-backwards-beyond-flush", []) if known > fall.low else None
    moves = moving(view, group, fall.before, fall.after)
    if not moves:
        return "offset-backwards-unmoved", []
    observation = _known_before_moves(view, group, fall, moves)
    return None if observation is None else ("offset-backwards-beyond-moves", [observation])


def _resets(view: RunView, group: str, fall: Fall) -> Iterator[Event]:
    """The group's resets by the end of a fall."""
    return (item for item in view.of_kind(OffsetsReset, until=fall.after.n) if item.body.group == group)


def _deaths(view: RunView, fall: Fall) -> Iterator[Event[FaultEffective]]:
    """The kills of the queue's broker by the end of a fall."""
    target = fall.queue.rpartition(":")[0]
    return (
        event
        for event in view.of_kind(FaultEffective, until=fall.after.n)
        if event.body.fault in KILLS and event.body.target == target
    )


def _known_before_moves(view: RunView, group: str, fall: Fall, moves: list[Move]) -> Event | None:
    """The last look before the first of these moves began, if the offset fell below the one in that look. Without
    owners, as with POP, no late persist explains a fall, and nothing bounds it.
    """
    if view.shares_queues(group):
        return None
    limit_ns = min(began_ns(view, move) for move in moves) - LOOK_SLACK_MS * 1_000_000
    seen = [item for item in _seen(view, group, fall) if item[1].mono_ns <= limit_ns]
    if not seen:
        return None
    offset, observation = seen[-1]
    if any(event.n > observation.n for event in _resets(view, group, fall)):
        return None
    deaths = [event for event in _deaths(view, fall) if event.n > observation.n]
    known = min([offset, *(_known_before_death(view, group, fall, death) for death in deaths)])
    return observation if known > fall.low else None


def _seen(view: RunView, group: str, fall: Fall) -> Iterator[tuple[int, Event]]:
    """The group's stored offsets of the queue that were seen by the end of a fall, in order."""
    for event in view.of_kind(OffsetsObserved, until=fall.after.n):
        if (event.body.group, event.body.topic) == (group, fall.topic):
            for queue in event.body.queues:
                named = queue.name == fall.queue
                if named and queue.consumer_offset is not None:
                    yield queue.consumer_offset, event


def _flush_ms(view: RunView) -> int:
    """flushConsumerOffsetInterval: the most that a broker forgets when it dies."""
    # Which version and clients it is doesn't matter for a broker's own interval.
    profile = PROFILES.get(view.timing, FAITHFUL)
    return timers_ms(profile, DEFAULT_VERSION, ())["broker.flush-offsets"]


def _known_before_death(view: RunView, group: str, fall: Fall, death: Event[FaultEffective]) -> int:
    """The offset that was seen long enough before the broker's death to have been flushed; 0: none was.

    The last one, not the greatest: it may have run back before, as it may.
    """
    limit_ms = _flush_ms(view) + LOOK_SLACK_MS
    starts = [item for item in view.of_kind(NodeReady, until=death.n) if item.node == death.body.target]
    if not starts or (death.mono_ns - starts[-1].mono_ns) / 1e6 < FIRST_FLUSH_MS + limit_ms:
        return 0
    seen = [
        offset
        for offset, event in _seen(view, group, fall)
        if event.n < death.n and (death.mono_ns - event.mono_ns) / 1e6 > limit_ms
    ]
    return seen[-1] if seen else 0
