"""`pull`: ask a broker for messages as a client's pull does, and see its answer as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import Field, model_validator

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.servers import Pulled as PulledEvent
from rocketchaos.harness.language.words import BrokerRef, DurationMs, GroupName, TopicName
from rocketchaos.harness.rocketmq.response_codes import pull_in_words
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.clients.raw_pull import Pulled, PullRequest
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

SHOWN_LIMIT_S = 30.0
"""Within which a queue must show every acknowledged message; a slave copies them first."""
TOPIC_LIMIT_S = 80.0
"""A slave copies its master's topics every 10 s, from 5.0.0 on every 60 s."""
_LOOK_EVERY_S = 0.02
_TOPIC_NOT_EXIST = 17

T = TypeVar("T")


class Pull(Step):
    """Send one PULL_MESSAGE (11) as a raw request, once the queue shows every message that was acknowledged.

    Without `with` the broker filters by the stored subscription of the group, which needs a member that is
    online; with it by this expression, as for the pulls of a lite pull consumer. The pull commits nothing and
    joins no group. The check `pull: {of: p1, …}` states what the answer must be.
    """

    word = "pull"
    example = "pull: {as: p1, group: g, topic: orders, queue: 0, offset: 0, with: '*'}"

    name: str | None = Field(
        default=None,
        alias="as",
        pattern=r"^[a-z][a-z0-9-]*$",
        description="the name by which checks find the answer",
    )
    group: GroupName = Field(description="the group in whose name it is sent")
    topic: TopicName = Field(description="the topic")
    queue: int = Field(ge=0, le=2**31 - 1, description="the id of the queue; it need not exist")
    offset: int = Field(
        ge=-(2**63), le=2**63 - 1, description="the offset from which to pull, also one below 0"
    )
    max: int = Field(default=32, ge=1, le=1024, description="at most this many messages")
    own_expression: str | None = Field(
        default=None, alias="with", description="its own expression, instead of the group's stored one"
    )
    expression_type: Literal["TAG", "SQL92"] = Field(default="TAG", description="the type of `with`")
    sub_version: int = Field(
        default=0, ge=0, description="its subVersion; the broker refuses one above the stored one"
    )
    suspend: DurationMs | None = Field(
        default=None,
        gt=0,
        le=60_000,
        description="how long the broker may hold the pull while there is nothing to return",
    )
    broker: BrokerRef | None = Field(
        default=None, description="the broker, or a slave; needed if the topic is on several"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Pull:
        if self.own_expression is None and self.expression_type != "TAG":
            raise ValueError("`expression_type` goes with `with`")
        return self

    def defines(self) -> tuple[tuple[str, str], ...]:
        return () if self.name is None else (("pull", self.name),)

    def problems(self, scenario: Scenario) -> Iterator[str]:
        brokers = scenario.brokers_of(self.topic)
        if self.broker is None and len(brokers) > 1:
            yield f"{self.topic} is on {', '.join(brokers)}: choose one, `broker: {brokers[0]}`"

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.clients.raw_pull import PullRequest

        broker = self.broker or context.scenario.brokers_of(self.topic)[0]
        addresses = context.servers.node_addresses
        if broker not in addresses:
            raise PreconditionNotMet(f"pull: {broker} is {context.servers.down.get(broker)}")
        request = PullRequest(
            group=context.names.real(self.group),
            topic=context.names.real(self.topic),
            queue_id=self.queue,
            offset=self.offset,
            max_messages=self.max,
            own_expression=self.own_expression,
            expression_type=self.expression_type,
            sub_version=self.sub_version,
            suspend_ms=self.suspend or 0,
        )
        self._await_messages(context, broker, addresses[broker])
        answer = self._answer(context, broker, addresses[broker], request)
        context.history.append("harness", PulledEvent.kind, self._in_words(broker, answer))

    def _await_messages(self, context: StepContext, broker: str, address: str) -> None:
        """Consume queues are filled after the acknowledgement, a slave's once it has copied the messages."""
        from rocketchaos.harness.clients import raw_pull

        end = self._acknowledged(context, context.servers.node(broker).slave_of or broker)
        if end == 0:
            return
        seen = _until(
            context,
            lambda: self._asked(
                broker, lambda: raw_pull.end_of_queue(address, context.names.real(self.topic), self.queue)
            ),
            lambda shown: shown >= end,
            SHOWN_LIMIT_S,
        )
        if seen < end:
            raise PreconditionNotMet(
                f"pull: {broker} doesn't show all {end} messages of queue {self.queue} of {self.topic} within "
                f"{SHOWN_LIMIT_S:g} s; last seen: {seen}"
            )

    def _acknowledged(self, context: StepContext, master: str) -> int:
        """Where the queue must end, by what was acknowledged; 0 where nothing was."""
        offsets = [
            message.queue_offset + 1
            for message in context.producer.acknowledged
            if (message.topic, message.broker, message.queue_id) == (self.topic, master, self.queue)
        ]
        return max(offsets, default=0)

    def _answer(self, context: StepContext, broker: str, address: str, request: PullRequest) -> Pulled:
        from rocketchaos.harness.clients import raw_pull

        def ask() -> Pulled:
            return self._asked(broker, lambda: raw_pull.pull(address, request))

        if context.servers.node(broker).slave_of is None:
            return ask()
        return _until(context, ask, lambda answer: answer.code != _TOPIC_NOT_EXIST, TOPIC_LIMIT_S)

    def _asked(self, broker: str, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except OSError as error:
            raise PreconditionNotMet(f"pull: {broker} doesn't answer: {error}", about=(broker,)) from error

    def _in_words(self, broker: str, answer: Pulled) -> dict[str, object]:
        return {
            "name": self.name,
            "group": self.group,
            "topic": self.topic,
            "broker": broker,
            "queue_id": self.queue,
            "offset": self.offset,
            "with": self.own_expression,
            "code": answer.code,
            "status": pull_in_words(answer.code),
            "remark": answer.remark,
            "next_offset": answer.next_offset,
            "min_offset": answer.min_offset,
            "max_offset": answer.max_offset,
            "messages": len(answer.messages),
            "keys": [(message.key or "").partition(" ")[0] for message in answer.messages],
            "took_ms": answer.took_ms,
        }


def _until(context: StepContext, observe: Callable[[], T], enough: Callable[[T], bool], limit_s: float) -> T:
    """Look until the result is enough or the limit has passed. Returns the last result."""
    from rocketchaos.harness.core.looking import look_until

    def guarded() -> T:
        context.check_alive()
        return observe()

    return look_until(guarded, enough, limit_s, _LOOK_EVERY_S)
