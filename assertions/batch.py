"""`batch`: how many messages a listener, or a poll, gets at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from rocketchaos.assertions.attempts import retries_to_come
from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.chosen import chosen_listeners, of_none
from rocketchaos.assertions.completeness import still_possible
from rocketchaos.assertions.too_early import TooEarly
from rocketchaos.assertions.view import Delivery, RunView
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.language.words import Target, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.language.consumer_spec import Consumer
    from rocketchaos.harness.scenario.model import Scenario


class Batch(Count):
    """The largest number of messages that one call of a listener, or one poll, got.

    A push consumer's call gets at most `batch_size` messages (consumeMessageBatchMaxSize, default 1), a poll what
    one pull brought. Clients in Python and gRPC clients get their messages one by one; of programs of your own the
    number is unknown.
    """

    word = "batch"
    example = "batch: {to: a, at_most: 1}"

    to: Target = Field(description="whose listeners: a consumer, a group, or a variable")
    topic: TopicName | None = Field(default=None, description="only messages of this topic")

    @model_validator(mode="after")
    def _one_or_more(self) -> Batch:
        if self.states_none:
            raise ValueError("each call gets a message: say `delivered: {…, count: 0}` where none comes")
        return self

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        yield from of_none(scenario, self.topic, None)
        sent = scenario.most_sent(self.topic)
        if sent and self.asks_for_more(sent):
            yield f"a batch of {self.how_many('message')}: {scenario.steps_send(self.topic)}"
        members = [scenario.consumers[name] for name in scenario.named(self.to)]
        most = [_most_at_once(member) for member in members]
        known = [number for number in most if number is not None]
        if members and len(known) == len(most) and self.asks_for_more(max(known)):
            yield (
                f"a listener of {self.to} gets at most {counted(max(known), 'message')} at once: `batch_size` "
                "says how many (Java's and Go's push consumers)"
            )

    def title(self) -> str:
        return f"largest batch of {self.to}"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('message')} in the largest batch of {self.to}"
        chosen = chosen_listeners(view, self.at, self.to)
        if isinstance(chosen, str):
            return Answer(None, expected, chosen)
        at, consumers = chosen
        got = [item for item in view.deliveries(at, consumers) if self.topic in (None, item.topic)]
        sized = [(item.event.body.batch, item) for item in got if item.event.body.batch is not None]
        early = self._to_come(view, at, consumers, got)
        if not sized:
            why = "no message came" if not got else "the clients don't tell how many came at once"
            return Answer(None, expected, why, [item.event.n for item in got], too_early=early)
        least, largest = min(size for size, _ in sized), max(size for size, _ in sized)
        sizes = str(largest) if least == largest else f"{least} to {largest}"
        observed = f"{counted(len(sized), 'message')} in batches of {sizes}"
        proof = [item.event.n for size, item in sized if size == largest]
        if early is not None and not self.is_final(largest):
            return Answer(None, expected, f"{observed}; {early}", proof, too_early=early)
        return Answer(self.fits(largest), expected, observed, proof)

    def _to_come(
        self, view: RunView, at: int, consumers: tuple[str, ...], got: list[Delivery]
    ) -> TooEarly | None:
        """Why a larger batch may still come; None: none will."""
        came = {item.key for item in got}
        groups = sorted({view.scenario.consumers[name].group for name in consumers})
        waiting = [
            item for item in view.sent_until(at) if item.key not in came and self.topic in (None, item.topic)
        ]
        retries = (retries_to_come(view, group, self.at, at) for group in groups)
        return still_possible(view, groups, waiting, at) or next(filter(None, retries), None)


def _most_at_once(consumer: Consumer) -> int | None:
    """How many messages one call of its listener gets at most; None: unknown."""
    if consumer.app is not None or consumer.api not in ("push", "pop"):
        return None
    size = consumer.properties.get("consumeMessageBatchMaxSize", 1)
    return size if isinstance(size, int) else None
