"""`several-owners`: once everything has settled, two members consume the same queue."""

from collections.abc import Iterator

from rocketchaos.assertions.completeness import patience_ms
from rocketchaos.assertions.several_owners import owners_of
from rocketchaos.harness.core.events.servers import Fault, FaultEffective
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.language.fault_effects import KILLS
from rocketchaos.harness.nightly.invariants.base import Breach, Judged, some
from rocketchaos.harness.nightly.invariants.causes import concerns, movers
from rocketchaos.harness.nightly.invariants.disagreement import OF_OWNERS, disagreement

_LIFE = frozenset(
    {"consumer-starting", "consumer-started", "consumer-refused", "consumer-stopping", "consumer-stopped"}
)
_UNFINISHED = ("consumer-starting", "consumer-stopping")


class SeveralOwners:
    """In a clustering group each queue has one owner at most, except during a rebalance.

    All looks at its members are those of one observation, long after the last event. A killed or stopped consumer
    is no owner any more; one that is broadcasting, or served from all queues, never was
    (`assertions.several_owners.owners_of`). It makes no statement while a member stands still, is cut off, joins
    or leaves: it may hold on to what others own by now.
    """

    kind = "several-owners"
    meaning = "a queue has several owners in a clustering group, long after the last change"
    judges_unsettled = True

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        view = judged.view
        for group in view.scenario.groups:
            last = _last_change(judged, group)
            if last is None or view.ms_between(last.n, judged.end) < patience_ms(view, [group], judged.end):
                continue
            if _is_under_way(judged, group):
                continue
            several = {
                (topic, queue): events
                for topic in view.scenario.topics
                for queue, events in owners_of(view, group, topic, "end", judged.end).items()
                if len(events) > 1
            }
            if several:
                (topic, queue), events = next(iter(several.items()))
                names = " and ".join(event.body.consumer for event in events)
                yield Breach(
                    group=group,
                    code=f"several-owners-{disagreement(view, group, topic, last.n, judged.end, OF_OWNERS)}",
                    sentence=f"{names} of {group} both own {queue} of {topic}; "
                    f"{counted(len(several), 'such queue')}",
                    events=some([event.n for found in several.values() for event in found]),
                    anomaly=({"several-owners": {"group": group, "topic": topic, "at_least": 1}},),
                    healthy=({"several-owners": {"group": group, "topic": topic, "count": 0}},),
                )


def _last_change(judged: Judged, group: str) -> Event | None:
    """The last event before the end that makes queues change their owner. None: there is no such event.

    A change of queues since the last look is the question, not its cause. Another connection counts
    if no step caused it.
    """
    moves = [
        move
        for move in movers(judged.view, group)
        if move.event.n <= judged.end and move.event.kind != "ownership-observed"
    ]
    done_ns = [move.until_ns for move in moves if move.since_ns == move.until_ns]
    changes = [
        move
        for move in moves
        if move.until_ns in done_ns or not any(move.since_ns <= at_ns <= move.until_ns for at_ns in done_ns)
    ]
    return max((move.event for move in changes), key=lambda event: event.mono_ns, default=None)


def _is_under_way(judged: Judged, group: str) -> bool:
    """Whether at the end a fault is in effect, or somebody comes or goes, or may: a period that began has no
    end."""
    view, end = judged.view, judged.end
    members = set(view.scenario.members(group))
    if members & set(view.paused(end)) or view.nodes_away(end) or view.network_faults(end):
        return True
    lives: dict[str, str] = {}
    faults: dict[tuple[str, str], str] = {}
    for event in view.events:
        if event.n > end:
            break
        if event.kind in _LIFE and event.node in members:
            lives[event.node] = event.kind
        elif isinstance(event.body, Fault) and concerns(view, group, event):
            faults[event.body.identity] = event.kind
            if isinstance(event.body, FaultEffective) and event.body.fault in KILLS:
                lives.pop(event.body.target, None)
    return any(kind in _UNFINISHED for kind in lives.values()) or "fault-injected" in faults.values()
