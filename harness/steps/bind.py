"""`bind`: give a name to the consumers that fit, so that a scenario can be written relative to a race."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field, model_validator

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.language.expressions import text_of
from rocketchaos.harness.language.words import GroupName, Strict, TopicName
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


_VARIABLE = re.compile(r"[a-z][a-z0-9-]*")


class Selector(Strict):
    """The one member of a group whose own subscription for a topic is the one that the broker holds."""

    member_of: GroupName = Field(alias="member-of", description="the group")
    stored_for: TopicName = Field(
        alias="whose-subscription-is-stored-for",
        description="the topic whose stored subscription must be this member's own",
    )


class Bind(Step):
    """Bind a variable to a consumer; `$others` becomes the other online members of its group.

    Which subscription a broker keeps is a race. Read it with `bind` once it has settled, and write the rest
    relative to it: `bind: {holder: …}` gives you `$holder`, `$holder.tag` and `$others`.
    """

    word = "bind"
    example = "bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}"
    model_config = ConfigDict(
        extra="allow", json_schema_extra={"minProperties": 1, "maxProperties": 1, "examples": ["holder"]}
    )

    __pydantic_extra__: dict[str, Selector]

    @model_validator(mode="after")
    def _one_name(self) -> Bind:
        names = list(self.__pydantic_extra__)
        if len(names) != 1:
            raise ValueError("bind one variable, `bind: {holder: {member-of: …}}`")
        if not _VARIABLE.fullmatch(names[0]) or names[0] == "others":
            raise ValueError(f"`{names[0]}` can't be a variable: use small letters and `-`, and not `others`")
        return self

    def binds(self) -> tuple[str, ...]:
        return (*self.__pydantic_extra__, "others")

    def run(self, context: StepContext) -> None:
        ((variable, selector),) = self.__pydantic_extra__.items()
        group, topic = selector.member_of, selector.stored_for
        expression = _stored_expression(context, group, topic)
        members = context.members.online(group)
        own = {name: context.consumers[name].subscriptions for name in members}
        holders = [name for name in members if topic in own[name] and text_of(own[name][topic]) == expression]
        if len(holders) != 1:
            raise PreconditionNotMet(
                f"bind: the broker holds {expression!r} for topic {topic}, which is the subscription of "
                f"{len(holders)} online members of group {group} ({', '.join(holders) or 'none'}), not of one"
            )
        context.variables.bind(variable, tuple(holders))
        context.variables.bind("others", tuple(name for name in members if name not in holders))


def _stored_expression(context: StepContext, group: str, topic: str) -> str:
    from rocketchaos.harness.probes.subscription_probe import read_subscription

    stored = {
        read_subscription(context, group, broker).expression_of(topic)
        for broker in context.servers.keepers_of_group(group)
    }
    expression = stored.pop() if len(stored) == 1 else None
    if expression is None:
        raise PreconditionNotMet(
            f"bind: the brokers hold no single subscription of group {group} for topic {topic}",
            "Put `settle: {subscription: …}` before `bind`.",
        )
    return expression
