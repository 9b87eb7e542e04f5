"""`subscription`: what the brokers hold of a group."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET
from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.language.words import BrokerRef, ExpressionRef, GroupName, OneOrList, TopicName

Codes = Annotated[tuple[int, ...], OneOrList()]


class Subscription(Check):
    """Every broker, or the named one, holds this subscription of the group for the topic (code 203).

    Give `expression`, or `absent: true` if the topic must not be in the table; `clients` is how many
    consumers the brokers count as connected. `consume_from` and `model` belong to the whole group, not to a
    topic: a broker takes both over from every heartbeat of any member.
    """

    word = "subscription"
    example = "subscription: {group: g, topic: orders, expression: $holder.tag, clients: 2}"

    group: GroupName = Field(description="the group")
    topic: TopicName = Field(description="the topic")
    broker: BrokerRef | None = Field(default=None, description="the broker; default every one")
    expression: ExpressionRef | None = Field(
        default=None, description="the stored expression: `tagB`, `$holder.tag`"
    )
    codes: Codes | None = Field(
        default=None,
        description="the stored hash codes of its tags, by which a broker filters: `[3552232]` for tagB",
    )
    absent: bool = Field(default=False, description="true: the group's table lacks the topic")
    clients: int | None = Field(default=None, ge=0, description="connected consumers of the group")
    consume_from: Literal["first-offset", "last-offset", "timestamp"] | None = Field(
        default=None, description="the group's consumeFromWhere"
    )
    model: Literal["clustering", "broadcasting"] | None = Field(
        default=None, description="the group's messageModel"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Subscription:
        stated = (self.expression, self.codes, self.clients, self.consume_from, self.model)
        if not self.absent and all(item is None for item in stated):
            raise ValueError(
                "give `expression`, `codes`, `absent: true`, `clients`, `consume_from` or `model`"
            )
        if self.expression is not None and self.absent:
            raise ValueError("`expression` and `absent: true` exclude each other")
        return self

    def title(self) -> str:
        where = f" on {self.broker}" if self.broker else ""
        return f"subscription of {self.group} for {self.topic}{where}"

    def evaluate(self, view: RunView) -> Answer:
        wanted = None if self.expression is None else view.expression(self.expression, self.topic)
        parts = []
        if self.expression is not None:
            parts.append(
                f"{self.expression}" if wanted in (None, self.expression) else f"{self.expression} = {wanted}"
            )
        if self.codes is not None:
            parts.append(f"codes {list(self.codes)}")
        if self.absent:
            parts.append("absent")
        if self.clients is not None:
            parts.append(f"{self.clients} clients")
        parts += self._attributes().values()
        expected = ", ".join(parts)
        if self.expression is not None and wanted is None:
            return Answer(None, expected, f"{self.expression} was never bound")
        events = view.observed(SubscriptionObserved, self.at, group=self.group)
        events = [event for event in events if self.broker in (None, event.body.broker)]
        if not events:
            where = f" on {self.broker}" if self.broker else ""
            return Answer(None, expected, f"no subscription was observed at `{self.at}`{where}")
        holds, texts, silent = True, [], []
        for event in events:
            stored = event.body.subscriptions.get(self.topic)
            text = None if stored is None else stored.expression
            count = len(event.body.clients)
            holds &= self.expression is None or text == wanted
            codes = [] if stored is None else sorted(stored.codes)
            holds &= self.codes is None or (stored is not None and codes == sorted(self.codes))
            holds &= not self.absent or text is None
            holds &= self.clients is None or count == self.clients
            coded = "" if self.codes is None else f" with codes {codes}"
            held = f"{event.body.broker} holds {text if text is not None else 'none'}{coded}, {count} clients"
            for key, attribute in self._attributes().items():
                shown = getattr(event.body, key)
                if shown is UNSET:
                    silent.append(f"{event.body.broker} was not asked for {key}")
                    continue
                holds &= shown == attribute
                held += f", {shown or f'no {key}'}"
            texts.append(held)
        if holds and silent:
            return Answer(None, expected, "; ".join(texts + silent), [event.n for event in events])
        return Answer(holds, expected, "; ".join(texts), [event.n for event in events])

    def _attributes(self) -> dict[str, str]:
        """What is stated of the group, as RocketMQ has it, by the keys of `subscription-observed`."""
        attributes = {}
        if self.consume_from is not None:
            words = self.consume_from.replace("-", "_").upper()
            attributes["consume_from_where"] = f"CONSUME_FROM_{words}"
        if self.model is not None:
            attributes["message_model"] = self.model.upper()
        return attributes
