"""`order`: whether messages came in the order in which they were stored, or sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from rocketchaos.assertions.attempts import attempts
from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.chosen import chosen_listeners, of_none
from rocketchaos.assertions.completeness import still_possible
from rocketchaos.assertions.view import Delivery, RunView
from rocketchaos.harness.language.words import Target, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class Order(Check):
    """Messages of a queue, or of a key, first reached the group in order: none came after a later one.

    `per: queue` compares offsets within each queue, `per: key` the order of sending among messages that share
    a key of `send: {keys: …}`. Repeats and retries don't count. It reports the first violation. `kept: false`
    states the contrary: at least one message came after a later one.
    """

    word = "order"
    example = "order: {topic: orders, per: queue, to: g}"

    topic: TopicName = Field(description="the topic")
    per: Literal["queue", "key"] = Field(default="queue", description="the scope of the order")
    to: Target | None = Field(
        default=None, description="whose listeners: a consumer, a group, or a variable; default all"
    )
    kept: bool = Field(
        default=True, description="whether they came in order; `false`: at least one came after a later one"
    )

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        yield from of_none(scenario, self.topic)
        if scenario.most_sent(self.topic) == 1:
            yield f"the steps send one message to {self.topic}, which has no order: the answer is always unknown"

    def title(self) -> str:
        return f"order of {self.topic} per {self.per}" + (f" to {self.to}" if self.to else "")

    def evaluate(self, view: RunView) -> Answer:
        expected = f"in order within each {self.per}" if self.kept else f"out of order within a {self.per}"
        chosen = chosen_listeners(view, self.at, self.to)
        if isinstance(chosen, str):
            return Answer(None, expected, chosen)
        at, consumers = chosen
        if printing := view.seen_from_outside(consumers):
            return Answer(
                None,
                expected,
                f"{', '.join(printing)} is seen by {view.by_what_seen(printing)}, once a message was handled: "
                "what came first they don't tell",
            )
        lines = self._lines(view, at, consumers)
        pairs = [pair for line in lines.values() for pair in _neighbours(line)]
        breaches = [pair for pair in pairs if pair[0][0] > pair[1][0]]
        if breaches:
            (_, earlier), (_, later) = min(breaches, key=lambda pair: pair[1][1].event.mono_ns)
            observed = (
                f"{later.key} ({later.queue}, offset {later.event.body.offset}) came to {later.consumer} after "
                f"{earlier.key} ({earlier.queue}, offset {earlier.event.body.offset}) had come to "
                f"{earlier.consumer}; {len(breaches)} of {len(pairs)} neighbours are out of order"
            )
            return Answer(not self.kept, expected, observed, [earlier.event.n, later.event.n])
        observed = f"all {len(pairs)} neighbours within {len(lines)} of them are in order"
        proof = [delivery.event.n for line in lines.values() for _, delivery in line]
        groups = sorted({view.scenario.consumers[name].group for name in consumers})
        sent = [item for item in view.sent_until(at) if item.topic == self.topic]
        why_not = still_possible(view, groups, sent, at)
        if not pairs:
            nothing = f"no two messages came that share a {self.per}"
            return Answer(None, expected, nothing, too_early=why_not)
        if why_not is not None:
            return Answer(None, expected, f"{observed}; {why_not}", proof, too_early=why_not)
        return Answer(self.kept, expected, observed, proof)

    def _lines(
        self, view: RunView, at: int, consumers: tuple[str, ...]
    ) -> dict[tuple[str, str], list[tuple[int, Delivery]]]:
        """First deliveries in order of time, each with its rank, by audience and by what they share."""
        ranks = {message.key: number for number, message in enumerate(view.sent)}
        first = sorted(
            (
                (audience, own[0])
                for (audience, _), own in attempts(view, at, consumers).items()
                if own[0].topic == self.topic and own[0].reconsume_times == 0 and own[0].key in ranks
            ),
            key=lambda item: item[1].event.mono_ns,
        )
        lines: dict[tuple[str, str], list[tuple[int, Delivery]]] = {}
        for audience, delivery in first:
            if self.per == "queue":
                line = lines.setdefault((audience, delivery.queue), [])
                line.append((delivery.event.body.offset or 0, delivery))
                continue
            for key in delivery.event.body.keys:
                lines.setdefault((audience, key), []).append((ranks[delivery.key], delivery))
        return lines


def _neighbours(
    line: list[tuple[int, Delivery]],
) -> Iterator[tuple[tuple[int, Delivery], tuple[int, Delivery]]]:
    """Each message with the highest one that came before it."""
    highest = line[0] if line else None
    for item in line[1:]:
        assert highest is not None
        yield highest, item
        highest = max(highest, item, key=lambda placed: placed[0])
