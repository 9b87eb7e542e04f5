"""`settle`: wait for a condition, with a limit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, field_validator, model_validator

from rocketchaos.assertions.chosen import owner_elsewhere
from rocketchaos.assertions.dead_letter import never_gives_up
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.language.cluster_needs import SLAVE_SUFFIX
from rocketchaos.harness.language.words import (
    BrokerRef,
    ConsumerRef,
    DurationMs,
    GroupName,
    ProcessRef,
    TagRef,
    Target,
    TopicName,
)
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


class Settle(Step):
    """Wait until one condition holds; after the limit the run is inconclusive and reports what was last seen.

    `ownership`: each member owns exactly the queues that its allocation strategy gives it for the members
    online now; a member that shares all queues with the others (POP, gRPC) is served from each of them, if
    its client reports it. In any case each broker knows exactly the members that are online. `subscription`:
    on every broker the stored subscription is the newest of the members' own, and still is on a second look.
    If a client doesn't report its own, the stored one is one of theirs or the newest known, and stays the
    same for 2 s. `offsets`: the group's offsets are at most `lag` messages behind in total. `route`: the name
    server and the producer know every running broker of the topic, which takes a while after a `restart`.
    `master`: each name server has the node as the master of its broker. From then on the harness asks this node
    what it would ask the broker.
    `copied`: a slave has all messages, topics and groups of its master; `copied_offsets`: it has the offsets of
    all groups. It copies topics, groups and offsets every 10 s, from 5.0 on every 60 s unless there is a
    controller, so give it `within: 90s`; 5.5.0 copies no offsets.
    `own_offsets`: by its own offset store the consumer has consumed all of each queue that it owns, so a
    `stop` or a `restart` from here on redelivers nothing. A message counts there only after the listener got
    it. For a broadcasting group this is the only source, because no broker stores its offsets. `sealed`: the
    fate of every message sent so far is certain: either the group's offset has passed it and none waits for a
    retry, or nothing has happened to it or to the group for longer than anything can be under way (6 s
    compressed).

    These take a `count`, and hold as soon as there are at least this many, counted from the run's beginning.
    `delivered`: different messages that listeners got. `blocked`: messages that listeners hold by their
    `behaviour`. `retried`: deliveries that were retries. `dead_letters`: messages in the dead-letter queue.
    `log`: lines of a log that match. `unstored` counts at this moment only: messages that listeners have
    handled, but whose offsets no broker has stored yet.
    """

    word = "settle"
    moves: ClassVar = (("running",), "running")
    example = "settle: {subscription: g, topic: orders, within: 40s}"

    ownership: GroupName | None = Field(default=None, description="the group whose ownership must settle")
    subscription: GroupName | None = Field(
        default=None, description="the group whose stored subscription for `topic` must settle"
    )
    offsets: GroupName | None = Field(
        default=None, description="the group whose offsets for `topic` must come within `lag`"
    )
    own_offsets: ConsumerRef | None = Field(
        default=None,
        description="the consumer whose own offsets for `topic` must be at the end of its queues",
    )
    route: TopicName | None = Field(default=None, description="the topic whose route must settle")
    master: BrokerRef | None = Field(
        default=None,
        description="the node that must be the master of its broker: `broker-a-slave`, once a controller has "
        "elected it, or a `restart` has made it one",
    )
    copied: BrokerRef | None = Field(
        default=None,
        description="the slave that must have the messages, topics and groups of its master: `broker-a-slave`",
    )
    copied_offsets: BrokerRef | None = Field(
        default=None, description="the slave that must have the offsets of its master"
    )
    delivered: Target | None = Field(
        default=None,
        description="whose listeners must get this many messages: a consumer, a group, or a variable",
    )
    blocked: Target | None = Field(default=None, description="whose listeners must hold this many messages")
    retried: Target | None = Field(default=None, description="whose listeners must get this many retries")
    sealed: GroupName | None = Field(
        default=None, description="the group for which the fate of every message must be certain"
    )
    unstored: GroupName | None = Field(
        default=None,
        description="the group that must have handled this many of `topic`, without storing their offsets",
    )
    dead_letters: GroupName | None = Field(
        default=None, description="the group whose dead-letter queue must have this many messages"
    )
    log: ProcessRef | None = Field(
        default=None,
        description="the node, the consumer or the `producer` whose log must have this many lines",
    )
    topic: TopicName | None = Field(
        default=None,
        description="the topic, needed with `subscription`, `offsets`, `own_offsets` and `unstored`; with "
        "`delivered` only messages of it",
    )
    tag: TagRef | None = Field(default=None, description="with `delivered`: only messages of this tag")
    lag: int | None = Field(default=None, ge=0, description="messages, with `offsets`; default 0")
    queues_of: ConsumerRef | None = Field(
        default=None, description="with `offsets`: only the queues that this consumer owned when last seen"
    )
    count: int | None = Field(default=None, ge=1, description="at least this many; default 1")
    matches: str | None = Field(
        default=None,
        min_length=1,
        description="with `log`: a Python regular expression found in the line",
    )
    within: DurationMs = Field(default=60_000, gt=0, description="the limit", validate_default=False)

    @field_validator("matches")
    @classmethod
    def _is_an_expression(cls, text: str | None) -> str | None:
        try:
            re.compile(text or "")
        except re.error as error:
            raise ValueError(f"it is no regular expression: {error}") from None
        return text

    @model_validator(mode="after")
    def _one_condition(self) -> Settle:
        given = [name for name in CONDITIONS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(f'`{name}`' for name in CONDITIONS)}")
        condition = CONDITIONS[given[0]]
        for field in ("topic", "tag", "lag", "queues_of", "count", "matches"):
            said = getattr(self, field) is not None
            if said and field not in (*condition.needs, *condition.may_have):
                takers = [
                    f"`{name}`" for name, item in CONDITIONS.items() if field in (*item.needs, *item.may_have)
                ]
                rest = f"{', '.join(takers[:-1])} and " if takers[1:] else ""
                raise ValueError(f"`{field}` goes with {rest}{takers[-1]}")
            if not said and field in condition.needs:
                raise ValueError(f"`{given[0]}` needs `{field}`")
        return self

    def problems(self, scenario: Scenario) -> Iterator[str]:
        members = scenario.members(self.offsets) if self.offsets is not None else ()
        if members and all(scenario.consumers[name].model == "broadcasting" for name in members):
            yield f"the members of {self.offsets} consume by broadcasting: no broker has offsets of the group"
        if self.dead_letters is not None:
            yield from never_gives_up(scenario, self.dead_letters)
        if self.offsets is not None:
            yield from owner_elsewhere(scenario, self.offsets, self.queues_of)
        blocked = self.blocked
        if blocked is not None and not blocked.startswith("$"):
            listeners = (blocked,) if blocked in scenario.consumers else scenario.members(blocked)
            if not any(scenario.consumers[name].behaviour.blocks for name in listeners):
                yield f"the listener of {blocked} never blocks: give {blocked} `behaviour: block`"

        copy = self.copied or self.copied_offsets
        changes = scenario.cluster.controller and copy in scenario.cluster.slaves
        if copy is not None and not copy.endswith(SLAVE_SUFFIX) and not changes:
            yield f"{copy} is no slave: {copy}{SLAVE_SUFFIX} is, with `cluster: {{slaves: {copy}}}`"
        kind = scenario.producer.choice.kind
        if self.route is not None and not kind.tells_route:
            advice = "write `wait: {duration: 31s, because: …}`, since it asks for routes every 30 s"
            yield f"{kind.title} doesn't tell which brokers the producer knows: {advice}"
        yield from (f"{name}: {reason}" for name, reason in self.beyond(scenario))

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        counts_messages = self.delivered or self.blocked or self.unstored
        sent = scenario.most_sent(self.topic, self.tag)
        if counts_messages is not None and self.count is not None and self.count > sent:
            yield f"{self.count} messages: {scenario.steps_send(self.topic, self.tag)}, so it never settles"

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        sent = scenario.most_sent(self.topic)
        if (self.lag or 0) > sent and not scenario.sends_unseen:
            yield f"lag {self.lag}: the steps send {sent} messages to {self.topic}, so it settles at once"

    def beyond(self, scenario: Scenario) -> Iterator[tuple[str, str]]:
        consumer = scenario.consumers.get(self.own_offsets or "")
        if consumer is not None and not consumer.traits.tells_offsets:
            yield str(self.own_offsets), f"{consumer.traits.implementation} doesn't tell its own offsets"

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.conditions import Awaited, await_condition
        from rocketchaos.harness.conditions.registry import OBSERVERS

        name = next(name for name in CONDITIONS if getattr(self, name) is not None)
        awaited = Awaited(name, str(getattr(self, name)), CONDITIONS[name].title(self))
        await_condition(context, awaited, OBSERVERS[name](context, self), self.within)
        if self.master is not None:
            context.servers.note_master(self.master)


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the conditions: its words, and what else it takes. `harness.conditions.registry` observes it."""

    title: Callable[[Settle], str]
    needs: tuple[str, ...] = ()
    may_have: tuple[str, ...] = ()


CONDITIONS: Mapping[str, Condition] = {
    "ownership": Condition(lambda step: f"ownership of {step.ownership}"),
    "subscription": Condition(
        lambda step: f"subscription of {step.subscription} for {step.topic}", needs=("topic",)
    ),
    "offsets": Condition(
        lambda step: (
            f"offsets of {step.offsets} for {step.topic} within lag {step.lag or 0}"
            + (f" in the queues of {step.queues_of}" if step.queues_of else "")
        ),
        needs=("topic",),
        may_have=("lag", "queues_of"),
    ),
    "own_offsets": Condition(
        lambda step: f"own offsets of {step.own_offsets} for {step.topic}", needs=("topic",)
    ),
    "route": Condition(lambda step: f"route of {step.route}"),
    "master": Condition(lambda step: f"{step.master} as the master"),
    "copied": Condition(lambda step: f"copies of {step.copied}"),
    "copied_offsets": Condition(lambda step: f"offsets of {step.copied_offsets}"),
    "delivered": Condition(
        lambda step: (
            f"{counted(step.count or 1, 'message')}{f' of tag {step.tag}' if step.tag else ''} "
            f"delivered to {step.delivered}"
        ),
        may_have=("topic", "tag", "count"),
    ),
    "blocked": Condition(
        lambda step: f"{step.blocked} blocked on {counted(step.count or 1, 'message')}",
        may_have=("count",),
    ),
    "retried": Condition(
        lambda step: f"{counted(step.count or 1, 'retry', 'retries')} delivered to {step.retried}",
        may_have=("count",),
    ),
    "sealed": Condition(lambda step: f"fates of all messages for {step.sealed}"),
    "unstored": Condition(
        lambda step: (
            f"{counted(step.count or 1, 'message')} of {step.topic} handled by {step.unstored} and not stored"
        ),
        needs=("topic",),
        may_have=("count",),
    ),
    "dead_letters": Condition(
        lambda step: f"{counted(step.count or 1, 'dead letter')} of {step.dead_letters}",
        may_have=("count",),
    ),
    "log": Condition(
        lambda step: f"{counted(step.count or 1, 'line')} of the log of {step.log}",
        needs=("matches",),
        may_have=("count",),
    ),
}
"""By the key that names each."""
