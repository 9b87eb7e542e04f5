"""`heartbeat`: a member's own report, made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, field_validator, model_validator

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.language.words import BrokerRef, GroupName, Name, Refers, Strict
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

HandMadeName = Annotated[Name, Refers(("hand-made",))]
"""A client that heartbeats make: `h1`."""


class HandMadeSubscription(Strict):
    """The subscription to one topic in a hand-made heartbeat."""

    expression: str = Field(description="the tag expression: `tagA`, `tagA || tagB`, `*`")
    version: int = Field(
        ge=0,
        description="its subVersion; a broker takes the expression over if this is above the stored one",
    )

    @field_validator("expression")
    @classmethod
    def _says_something(cls, expression: str) -> str:
        if not expression.strip():
            raise ValueError("write `*` for everything")
        return expression


class Heartbeat(Step):
    """Send one heartbeat (HEART_BEAT, 34) that the scenario writes itself, or disconnect without unregistering.

    Its sender, a client of this name, keeps a connection to each broker, receives the brokers' notifications
    about the group (`notified`), and does nothing else: it pulls nothing, and sends only these heartbeats. To
    a broker it is a member like any other, so the other members leave it its share of the queues. `close`
    ends its connections.
    """

    word = "heartbeat"
    example = "heartbeat: {client: h1, group: g, subscribe: {orders: {expression: tagA, version: 100}}}"

    client: Name | None = Field(default=None, description="the name of the client, new or known")
    group: GroupName | None = Field(default=None, description="its group")
    subscribe: dict[Name, HandMadeSubscription] = Field(
        default_factory=dict,
        description="what it subscribes to, by topic: `{orders: {expression: tagA, version: 1}}`",
    )
    consume_from: Literal["first-offset", "last-offset", "timestamp"] = Field(
        default="first-offset", description="its consumeFromWhere"
    )
    model: Literal["clustering", "broadcasting"] = Field(
        default="clustering",
        description="its messageModel; with `clustering` it subscribes to the retry topic too, as Java clients do",
    )
    broker: BrokerRef | None = Field(
        default=None, description="the broker that gets it; default all, slaves included"
    )
    close: HandMadeName | None = Field(default=None, description="alone: the client whose connections end")

    @model_validator(mode="after")
    def _send_or_close(self) -> Heartbeat:
        if self.close is not None:
            if self.model_fields_set != {"close"}:
                raise ValueError("`close` stands alone")
        elif self.client is None or self.group is None or not self.subscribe:
            raise ValueError("give `client`, `group` and `subscribe`, or only `close`")
        return self

    def defines(self) -> tuple[tuple[str, str], ...]:
        return () if self.client is None else (("hand-made", self.client),)

    def problems(self, scenario: Scenario) -> Iterator[str]:
        for topic in self.subscribe:
            if topic not in scenario.topics:
                yield f"there is no topic `{topic}`: there is {', '.join(scenario.topics)}"

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.clients.hand_made import Membership, Subscription

        if self.close is not None:
            context.hand_made.close(self.close)
            return
        membership = Membership(
            group=str(self.group),
            subscriptions=tuple(
                Subscription(topic, item.expression, item.version) for topic, item in self.subscribe.items()
            ),
            consume_from=f"CONSUME_FROM_{self.consume_from.replace('-', '_').upper()}",
            model=self.model.upper(),
        )
        brokers = context.servers.node_addresses
        if self.broker is not None:
            if self.broker not in brokers:
                raise PreconditionNotMet(
                    f"heartbeat: {self.broker} is {context.servers.down.get(self.broker)}"
                )
            brokers = {self.broker: brokers[self.broker]}
        context.hand_made.heartbeat(str(self.client), membership, brokers)
