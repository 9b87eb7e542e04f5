"""`several-owners`: once everything has settled, two members consume the same queue."""

from __future__ import annotations

from collections.abc import Iterator

from assertions.completeness import patience_ms
from assertions.several_owners import owners_of
from harness.nightly.invariants.base import Breach, Judged, some
from harness.nightly.invariants.minds import OF_OWNERS, disagreement
from harness.reporters.parts.text import counted


class SeveralOwners:
    """Within a clustering group each queue has one owner at most, but while a rebalance is under way."""

    kind = "several-owners"
    meaning = "a queue has several owners in a clustering group, long after the last change"

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        view = judged.view
        for group in view.scenario.groups:
            last = view.last_disturbance([group], judged.end)
            if last is None or view.ms_between(last.n, judged.end) < patience_ms(view, [group], judged.end):
                continue
            several = {
                (topic, queue): events
                for topic in view.scenario.topics
                for queue, events in owners_of(view, group, topic, "end", judged.end).items()
                if len(events) > 1
            }
            if several:
                (topic, queue), events = next(iter(several.items()))
                names = " and ".join(str(event.data["consumer"]) for event in events)
                yield Breach(
                    group=group,
                    cause=disagreement(view, group, topic, last.n, judged.end, OF_OWNERS),
                    sentence=f"{names} of {group} both own {queue} of {topic}; "
                    f"{counted(len(several), 'such queue')}",
                    events=some([event.n for found in several.values() for event in found]),
                    anomaly=({"several-owners": {"group": group, "topic": topic, "at_least": 1}},),
                    healthy=({"several-owners": {"group": group, "topic": topic, "count": 0}},),
                )
