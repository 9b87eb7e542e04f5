"""`repeated`: a message came again, and nothing had happened that makes messages come again."""

from __future__ import annotations

from collections.abc import Iterator

from assertions.attempts import attempts, repeats
from assertions.view import Delivery
from harness.nightly.invariants.base import Breach, Judged, some
from harness.nightly.invariants.causes import moving


class Repeated:
    """At least once: twice only where queues changed hands, a server was away, or a sending was not acknowledged.

    A retry after a failure is no repeat (`assertions.attempts.repeats`).
    """

    kind = "repeated"
    meaning = (
        "a message was delivered again though nobody came or went, no server was away and nothing failed"
    )

    def breaches(self, judged: Judged) -> Iterator[Breach]:
        view = judged.view
        open_ones = {event.data["key"] for event in view.of_kind("send-failed")}
        found: dict[str, list[tuple[Delivery, Delivery]]] = {}
        for (audience, key), own in attempts(view, judged.end).items():
            consumers = view.scenario.consumers
            group = consumers[audience].group if audience in consumers else audience
            for again in repeats(own) if key not in open_ones else ():
                if moving(view, group, own[0].event, again.event) is None:
                    found.setdefault(group, []).append((own[0], again))
        for group, pairs in found.items():
            first, again = pairs[0]
            yield Breach(
                group=group,
                cause="nothing had moved a queue",
                sentence=f"{len(pairs)} messages came to {group} again, as {first.key} to {first.consumer} and "
                f"then to {again.consumer}, and nothing had happened that moves queues",
                events=some([one.event.n for pair in pairs for one in pair]),
                anomaly=({"duplicated": {"to": group, "at_least": 1}},),
                healthy=({"duplicated": {"to": group, "count": 0}},),
            )
