"""`several-owners`: once everything has settled, two members consume the same queue."""

from __future__ import annotations

from collections.abc import Iterator

from assertions.completeness import patience_ms
from assertions.view import owned_queues
from harness.model import Event
from harness.nightly.invariants.base import Breach, Judged, some
from harness.nightly.invariants.minds import disagreement


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
            owners: dict[tuple[str, str], list[Event]] = {}
            for name in view.online(judged.end, group):
                if (
                    view.traits(name).queues == "shared"
                    or view.scenario.consumers[name].model == "broadcasting"
                ):
                    continue
                for event in view.observed("ownership-observed", "end", consumer=name):
                    for topic in view.scenario.topics:
                        for queue in owned_queues(event, topic):
                            owners.setdefault((topic, queue), []).append(event)
            several = {where: events for where, events in owners.items() if len(events) > 1}
            if several:
                (topic, queue), events = next(iter(several.items()))
                names = " and ".join(str(event.data["consumer"]) for event in events)
                yield Breach(
                    group=group,
                    cause=disagreement(view, group, topic, last.n, judged.end),
                    sentence=f"{names} of {group} both own {queue} of {topic}; {len(several)} such queues",
                    events=some([event.n for found in several.values() for event in found]),
                )
