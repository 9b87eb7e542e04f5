"""`placed`: which queues messages went to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.limits import keeps
from rocketchaos.assertions.view import RunView, Sent
from rocketchaos.harness.language.words import BrokerRef, OneOrList, OneOrMore, TagRef, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class Placed(Check):
    """The queues and brokers that messages went to, as brokers acknowledged them.

    `brokers` are all brokers that they went to. `queues` are the ids, on any broker, of all queues that they
    went to; `each` is how many went to each of these. With `number: 1` only the first message sent to each
    topic counts, with 2 the second, …; `queues_at_least` limits the number of different queues: those of
    two brokers differ, whatever their ids. `most_at_least` and `most_at_most` limit what went to the one queue
    that got most of them. If one of the topics has no such message, the answer is unknown.
    """

    word = "placed"
    example = "placed: {topics: orders, tag: tagA, queues: [0, 1, 2, 3], each: 2}"

    topics: OneOrMore[TopicName] = Field(description="the topics to which they were sent")
    tag: TagRef | None = Field(default=None, description="only messages of this tag")
    number: int | None = Field(
        default=None, ge=1, description="only this message of each topic, by its number"
    )
    queues: Annotated[tuple[int, ...], OneOrList()] | None = Field(
        default=None, description="the ids of all queues that they went to"
    )
    each: int | None = Field(default=None, ge=1, description="this many of them went to each of those")
    queues_at_least: int | None = Field(default=None, ge=1, description="at least this many different queues")
    queues_at_most: int | None = Field(default=None, ge=1, description="at most this many different queues")
    most_at_least: int | None = Field(
        default=None, ge=1, description="the queue that got most of them got at least this many"
    )
    most_at_most: int | None = Field(
        default=None, ge=1, description="the queue that got most of them got at most this many: an even share"
    )
    brokers: OneOrMore[BrokerRef] | None = Field(
        default=None, description="the brokers that they went to, all of them: `[broker-a, broker-b]`"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Placed:
        keys = (
            "queues",
            "each",
            "queues_at_least",
            "queues_at_most",
            "most_at_least",
            "most_at_most",
            "brokers",
        )
        if all(getattr(self, key) is None for key in keys):
            raise ValueError(f"say {', '.join(f'`{key}`' for key in keys[:-1])} or `{keys[-1]}`")
        if self.queues == ():
            raise ValueError("`queues` names no queue: every message goes to one")
        return self

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        yield from self._queues_beyond(scenario)
        sent = [scenario.most_sent(topic, self.tag) for topic in self.topics]
        if self.number is not None:
            missing = [topic for topic in self.topics if scenario.most_sent(topic) < self.number]
            for topic in missing[:1]:
                yield f"number {self.number}: the steps send {scenario.most_sent(topic)} messages to {topic}"
            sent = [min(item, 1) for item in sent]
        queues = max(1, len(set(self.queues or ())), self.queues_at_least or 0)
        wanted, there = queues * (1 if self.each is None else self.each), sum(sent)
        if wanted > there:
            each = "" if self.each is None else f", {self.each} to each"
            text = f"{queues} {'queue' if queues == 1 else 'queues'}{each}"
            yield f"{text}: the steps send {there} such messages to {', '.join(self.topics)}"
        elif self.most_at_least is not None and self.most_at_least > there:
            text = f"at least {self.most_at_least} to one queue"
            yield f"{text}: the steps send {there} such messages to {', '.join(self.topics)}"

    def _queues_beyond(self, scenario: Scenario) -> Iterator[str]:
        if any(scenario.topics[topic].by_sending for topic in self.topics):
            return  # how many queues the broker gives it is what a run shows
        number = max(scenario.topic(topic).write_queues for topic in self.topics)
        beyond = [queue for queue in self.queues or () if not 0 <= queue < number]
        if beyond:
            yield (
                f"there is no queue {beyond[0]}: {', '.join(self.topics)} "
                f"{'has' if len(self.topics) == 1 else 'have'} the queues 0 to {number - 1}"
            )
        number = max(
            scenario.topic(topic).write_queues * len(scenario.brokers_of(topic)) for topic in self.topics
        )
        if self.queues_at_least is not None and self.queues_at_least > number:
            has = "has" if len(self.topics) == 1 else "have"
            yield f"{self.queues_at_least} different queues: {', '.join(self.topics)} {has} {number} at most"

    def title(self) -> str:
        return f"queues of the messages sent to {', '.join(self.topics)}"

    def evaluate(self, view: RunView) -> Answer:
        expected, end = self._expected(), view.end_of(self.at)
        if end is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        by_topic = {topic: self._of_topic(view, topic, end) for topic in self.topics}
        found = [message for own in by_topic.values() for message in own]
        lacking = [topic for topic, own in by_topic.items() if not own]
        if lacking:
            return Answer(None, expected, f"no such message to {', '.join(lacking)} was acknowledged")
        counts: dict[int, int] = {}
        for message in found:
            queue = int(message.queue.rpartition(":")[2])
            counts[queue] = counts.get(queue, 0) + 1
        brokers = Counter(message.queue.rpartition(":")[0] for message in found)
        observed = ", ".join(f"{count} to queue {queue}" for queue, count in sorted(counts.items()))
        if self.brokers is not None:
            observed += f"; {', '.join(f'{count} on {broker}' for broker, count in sorted(brokers.items()))}"
        by_queue = Counter(message.queue for message in found)
        different, ((fullest, most),) = len(by_queue), by_queue.most_common(1)
        if len(brokers) > 1 and (self.queues_at_least, self.queues_at_most) != (None, None):
            observed += f"; {different} queues of {', '.join(sorted(brokers))}"
        if (self.most_at_least, self.most_at_most) != (None, None):
            observed += f"; most to {fullest}: {most} of {len(found)}"
        holds = self._holds(counts, different, most) and (
            self.brokers is None or {*self.brokers} == {*brokers}
        )
        return Answer(holds, expected, observed, [message.event.n for message in found])

    def _of_topic(self, view: RunView, topic: str, end: int) -> list[Sent]:
        own = [message for message in view.sent_until(end) if message.topic == topic]
        if self.number is not None:
            own = own[self.number - 1 : self.number]
        tags = None if self.tag is None else view.tags(self.tag, topic) or frozenset()
        return [message for message in own if tags is None or message.tag in tags]

    def _holds(self, counts: dict[int, int], different: int, most: int) -> bool:
        return all(
            (
                self.queues is None or sorted(counts) == sorted(set(self.queues)),
                self.each is None or set(counts.values()) == {self.each},
                keeps(different, self.queues_at_least, self.queues_at_most),
                keeps(most, self.most_at_least, self.most_at_most),
            )
        )

    def _expected(self) -> str:
        limits = (
            (self.queues, f"queues {list(self.queues or ())}"),
            (self.each, f"{self.each} to each"),
            (self.queues_at_least, f"at least {self.queues_at_least} different queues"),
            (self.queues_at_most, f"at most {self.queues_at_most} different queues"),
            (self.most_at_least, f"at least {self.most_at_least} to the queue that got most"),
            (self.most_at_most, f"at most {self.most_at_most} to the queue that got most"),
            (self.brokers, f"on {', '.join(sorted(self.brokers or ()))}"),
        )
        return ", ".join(text for limit, text in limits if limit is not None)
