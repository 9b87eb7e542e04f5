"""`send`: messages, with all that a producer gives them."""

from __future__ import annotations

import random
import string
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from rocketchaos.harness.core.errors import EnvironmentNotReady, PreconditionNotMet
from rocketchaos.harness.core.user_files import user_file
from rocketchaos.harness.language.namespace import outside
from rocketchaos.harness.language.producer_spec import PRODUCER
from rocketchaos.harness.language.sending import UNDER_WAY, Sending
from rocketchaos.harness.language.words import (
    DurationMs,
    OneOrMore,
    ProducerRef,
    TagRef,
    TopicName,
    tag_doubt,
)
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.steps.base import Step, every_step

if TYPE_CHECKING:
    from rocketchaos.harness.clients.producer import Producer
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

Key = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$")]
"""A message's key, or a text whose hash chooses its queue: any text with more than blanks."""
_CHARACTERS = string.ascii_letters + string.digits
_SAID_BY = {"TAGS": "tag", "KEYS": "keys", "DELAY": "delay_level", "TIMER_DELAY_MS": "delay"}
"""Properties of RocketMQ's own for which a scenario has a key (`MessageConst`)."""


def _said_by_no_key(name: str) -> str:
    if name in _SAID_BY:
        raise ValueError(f"`{_SAID_BY[name]}` of `send` sets it")
    return name


PropertyName = Annotated[
    str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,127}$"), AfterValidator(_said_by_no_key)
]
"""A property's name: RocketMQ takes any without its separators, the characters 1 and 2.

RocketMQ's Java client refuses most of its own (`Message.putUserProperty`).
"""
PropertyValue = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class Send(Sending, Step):
    """Send messages, one after the other, each acknowledged before the next; with `async` several at a time.

    With `per_queue` the messages go to the queues in turn, and each queue gets exactly this many. With
    `queue` all go to that queue. With `hash_key` a hash chooses, so that messages with the same text go to the
    same queue, as long as the number of queues stays. Without any of them the producer's own round robin decides,
    which starts at a random queue. The harness gives each message a key: `orders-1` for the first one sent to
    orders; the numbers of a topic go through all producers.

    By default the producer doesn't retry by itself; `retryTimesWhenSendFailed` in its `settings` lets the Java
    client do so. The fate of a message that is not acknowledged is open, and checks count only acknowledged
    ones. The run is then inconclusive, unless the step has `may_fail`, as while a broker is away.

    A message sent with a delay, one-way or in a transaction reaches its queue only later, or never: it counts
    as sent once an observation finds it there. `settle: {delivered: …}` waits for it.
    """

    word = "send"
    example = 'send: {topic: orders, tags: [tagA, tagB], count: 16, per_queue: 4, properties: {a: "1"}}'

    topic: TopicName = Field(description="the topic")
    tag: TagRef | None = Field(
        default=None, description="the tag of every message; without it and `tags`: untagged"
    )
    tags: OneOrMore[TagRef] | None = Field(
        default=None, description="tags in turn; with `per_queue` in turn within each queue"
    )
    count: int = Field(gt=0, le=100_000, description="how many messages")
    per_queue: int | None = Field(
        default=None, gt=0, description="how many go to each queue; `count` is then this times the queues"
    )
    queue: int | None = Field(
        default=None,
        ge=0,
        description="the id of the queue to which all of them go, on the topic's first broker",
    )
    broker: str | None = Field(default=None, description="with `queue`: another broker")
    keys: OneOrMore[Key] | None = Field(
        default=None,
        description="more keys for every message, after the harness's own; in them too `$number` is its number "
        "in the topic: `[A-$number]`",
    )
    hash_key: OneOrMore[Key] | None = Field(
        default=None,
        description="texts in turn, one for each message, whose hash chooses its queue, as with "
        "SelectMessageQueueByHash and the `hashKey` of Spring; clients of `go` and `grpc` hash differently from "
        "`java`, and `grpc` needs a topic with `message.type: FIFO`; in them `$number` is the message's number "
        "in the topic",
    )
    properties: dict[PropertyName, PropertyValue] = Field(
        default_factory=dict,
        description='properties of every message, `{a: "1"}`: text, also for numbers; also of RocketMQ\'s '
        'own, `{CHECK_IMMUNITY_TIME_IN_SECONDS: "60"}`. Some of those the Java client keeps for itself '
        "(`MAX_RECONSUME_TIMES`): a producer of `go` sends them",
    )
    body: str | None = Field(
        default=None,
        min_length=1,
        description="a file with the text of every message, in which `$key` is its key and `$number` its number "
        "in the topic: `fixtures/order.json`, looked up from the scenario's file, then from the current "
        "folder; default its key",
    )
    body_bytes: int | None = Field(
        default=None,
        ge=1,
        le=64 * 2**20,
        description="in place of `body`: the length of every body, of letters and digits at random, the same in "
        "every run. Java's producer compresses a body of 4 KB or more (`compressMsgBodyOverHowmuch`), this one to "
        "three quarters",
    )
    every: DurationMs | None = Field(
        default=None, gt=0, description="the time from one message to the next; default: as fast as possible"
    )
    producer: ProducerRef = Field(default=PRODUCER, description="which one of several, see `producers`")
    may_fail: bool = Field(
        default=False,
        description="messages that are not acknowledged are recorded, and the run continues",
    )

    @model_validator(mode="after")
    def _one_of_each(self) -> Send:
        if self.tag is not None and self.tags is not None:
            raise ValueError("give one of `tag` and `tags`")
        if self.body is not None and self.body_bytes is not None:
            raise ValueError("give one of `body` and `body_bytes`")
        if self.per_queue is not None and self.queue is not None:
            raise ValueError("give one of `per_queue` and `queue`")
        if self.hash_key is not None and (self.chooses_queues or self.batch or self.transaction):
            raise ValueError(
                "`hash_key` chooses the queue of each message: it goes with none of `per_queue`, `queue`, "
                "`batch`, `transaction`"
            )
        if self.broker is not None and self.queue is None:
            raise ValueError("`broker` goes with `queue`")
        return self

    @model_validator(mode="after")
    def _can_be_together(self) -> Send:
        if self.batch is not None and (self.per_queue is not None or self.count % self.batch):
            raise ValueError("a `batch` goes to one queue, and `count` is a multiple of it")
        if self.transaction is not None and self.chooses_queues:
            raise ValueError("a transaction can't choose its queue")
        return self

    @property
    def chooses_queues(self) -> bool:
        return self.per_queue is not None or self.queue is not None

    def problems(self, scenario: Scenario) -> Iterator[str]:
        yield from outside(scenario.senders[self.producer].namespace, (self.topic,), "topic")
        brokers = scenario.brokers_of(self.topic)
        # Which `topic-config` is over by then, only the run says: in a `parallel` none need be.
        numbers = [topic.write_queues for topic in scenario.topic_in_time(self.topic)]
        queues = numbers[0] * len(brokers)
        if self.per_queue is not None and not any(
            self.count == self.per_queue * number * len(brokers) for number in numbers
        ):
            yield (
                f"`count: {self.count}` is not `per_queue: {self.per_queue}` times the {queues} queues of "
                f"{self.topic}: write `count: {self.per_queue * queues}`"
            )
        if self.queue is not None and self.queue >= max(numbers):
            yield f"{self.topic} has the queues 0 to {max(numbers) - 1}: there is no queue {self.queue}"
        if self.broker is not None and self.broker not in brokers and not self._grown(scenario):
            yield f"{self.topic} is on {', '.join(brokers)}: not on {self.broker}"

    def _grown(self, scenario: Scenario) -> bool:
        """Whether a step creates the topic on the broker to which it sends, or may do so."""
        return self.broker in scenario.cluster.brokers and any(
            self.topic in step.creates_on(str(self.broker), scenario) for step in every_step(scenario.steps)
        )

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        accounts = scenario.cluster.accounts
        account = scenario.senders[self.producer].account
        if account in accounts and not accounts[account].accepted and not self.may_fail:
            yield (
                f"brokers refuse the messages of {self.producer}, because of `at_brokers` of {account}: let the "
                "send fail, `may_fail: true`"
            )
        if accounts and account is None and not self.may_fail:
            first = next(iter(accounts))
            yield (
                f"{self.producer} has no account, so brokers refuse its messages: give it one, "
                f"`account: {first}`, or let the send fail, `may_fail: true`"
            )
        choice = scenario.senders[self.producer].choice
        refused = sorted(choice.refuses_properties(scenario.rocketmq) & set(self.properties))
        if refused and not self.may_fail:
            yield (
                f"RocketMQ's client refuses the property `{refused[0]}`, which is its own "
                "(Message.putUserProperty): leave it out, let the send fail, `may_fail: true`, or give it to a "
                "producer of Go, whose client refuses none: `client: go`"
            )
        for key in self.keys or ():
            if len(key.split()) > 1:
                yield (
                    f"`{key}` is {len(key.split())} keys to RocketMQ, which puts a blank between the keys of a "
                    "message (MessageConst.KEY_SEPARATOR)"
                )
        yield from filter(None, (tag_doubt(tag) for tag in self.tags or (self.tag,) if tag is not None))

    def sends(self, scenario: Scenario) -> Iterator[tuple[str, str | None, int]]:
        tags = self.tags or (self.tag,)
        queues = scenario.topic(self.topic).write_queues * len(scenario.brokers_of(self.topic))
        in_turn = queues if self.tags and self.per_queue is not None else 1
        numbers = Counter(index // in_turn % len(tags) for index in range(self.count))
        for index, number in numbers.items():
            yield self.topic, tags[index], number

    def body_text(self, scenario: Scenario) -> str | None:
        """The text of its messages, with placeholders; None: each has its key.

        Raises:
            EnvironmentNotReady: the file isn't there, or isn't text.
        """
        if self.body_bytes is not None:
            return "".join(random.Random(0).choices(_CHARACTERS, k=self.body_bytes))
        if self.body is None:
            return None
        file = user_file(self.body, scenario.file, "the messages' body", "Correct `body` in the step `send`.")
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise EnvironmentNotReady(f"the messages' body can't be read: {file}: {error}") from error

    def run(self, context: StepContext) -> None:
        refused: list[str] = []
        under_way: list[Future[list[str]]] = []
        producer = context.members.producer(self.producer)
        pool = ThreadPoolExecutor(UNDER_WAY, thread_name_prefix="send")
        body = self.body_text(context.scenario)
        began_ns = context.now_ns()
        try:
            for index in range(self.count):
                context.check_alive()
                if self.every is not None:
                    # Against the beginning: what a sending takes doesn't make the rate lower.
                    due_ns = began_ns + index * self.every * 1_000_000
                    context.let_time_pass(max(0, round((due_ns - context.now_ns()) / 1e6)))
                if self.batch is not None and index % self.batch:
                    continue
                if self.asynchronous:
                    under_way.append(pool.submit(self._send, context, producer, index, body))
                else:
                    refused += self._send(context, producer, index, body)
            refused += [error for sending in under_way for error in sending.result()]
        finally:
            pool.shutdown(cancel_futures=True)
        if refused and not self.may_fail:
            raise PreconditionNotMet(
                f"send: {len(refused)} of {self.count} messages to {self.topic} were not acknowledged: "
                f"{refused[-1]}"
            )

    def _send(self, context: StepContext, producer: Producer, index: int, body: str | None) -> list[str]:
        """Send the message of this number, or the batch that begins with it; an error for each that is not
        acknowledged.
        """
        error = producer.send(
            self.topic,
            [self._tag_of(context, index + more) for more in range(self.batch or 1)],
            self._queue_of(context, index),
            keys=self.keys or (),
            properties=self.properties,
            how=self.as_data,
            **({} if self.hash_key is None else {"hash_key": self.hash_key[index % len(self.hash_key)]}),
            **({} if body is None else {"body": body}),
        )
        if not error:
            return []
        context.check_alive()
        return [error] * (self.batch or 1)

    def _tag_of(self, context: StepContext, index: int) -> str | None:
        if self.tags is None:
            return context.variables.tag(self.tag, self.topic)
        position = (
            index // len(context.servers.written_queues(self.topic)) if self.per_queue is not None else index
        )
        return context.variables.tag(self.tags[position % len(self.tags)], self.topic)

    def _queue_of(self, context: StepContext, index: int) -> Queue | None:
        queues = context.servers.written_queues(self.topic)
        if self.queue is not None:
            for queue in queues:
                if queue[1] == self.queue and self.broker in (None, queue[0]):
                    return queue
            if self.broker is not None and self.broker not in context.scenario.brokers_of(self.topic):
                return self.broker, self.queue  # a step has created the topic there
            raise PreconditionNotMet(
                f"send: {self.topic} has no queue {self.queue} to which producers send at this moment: a "
                "`topic-config` has changed their number"
            )
        return queues[index % len(queues)] if self.per_queue is not None else None
