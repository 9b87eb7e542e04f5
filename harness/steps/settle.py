"""`settle`: wait for a condition, with a limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from harness.conditions import await_condition
from harness.conditions.offsets import offsets_reached
from harness.conditions.ownership import ownership_settled
from harness.conditions.route import route_settled
from harness.conditions.subscription import SubscriptionSettled
from harness.language import DurationMs, GroupName, TopicName
from harness.steps.base import Step

if TYPE_CHECKING:
    from harness.context import RunContext
    from harness.scenario import Scenario


class Settle(Step):
    """Wait until one condition holds; a limit that passes makes the run inconclusive and says what was seen.

    `ownership`: each member owns exactly the queues that its allocation strategy gives it for the members
    online now. `subscription`: on every broker the stored subscription is the newest of the members' own, and
    stays so on a second look. `offsets`: the group's offsets are at most `lag` messages behind in total.
    `route`: the name server and the producer know every running broker of the topic, as it is some time after a
    `restart`.
    """

    word = "settle"
    example = "settle: {subscription: g, topic: orders, within: 40s}"

    ownership: GroupName | None = Field(default=None, description="the group whose ownership must settle")
    subscription: GroupName | None = Field(
        default=None, description="the group whose stored subscription for `topic` must settle"
    )
    offsets: GroupName | None = Field(
        default=None, description="the group whose offsets for `topic` must come within `lag`"
    )
    route: TopicName | None = Field(default=None, description="the topic whose route must settle")
    topic: TopicName | None = Field(default=None, description="the topic; not with `ownership` and `route`")
    lag: int | None = Field(default=None, ge=0, description="messages, with `offsets`; 0 unless told")
    within: DurationMs = Field(default=60_000, gt=0, description="the limit", validate_default=False)

    @model_validator(mode="after")
    def _one_condition(self) -> Settle:
        conditions = ("ownership", "subscription", "offsets", "route")
        given = [name for name in conditions if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("say exactly one of `ownership`, `subscription`, `offsets`, `route`")
        if (given[0] in ("subscription", "offsets")) != (self.topic is not None):
            raise ValueError("`topic` goes with `subscription` and `offsets`, and they need it")
        if self.lag is not None and given[0] != "offsets":
            raise ValueError("`lag` goes with `offsets`")
        return self

    def problems(self, scenario: Scenario) -> Iterator[str]:
        members = scenario.members(self.offsets) if self.offsets is not None else ()
        if members and all(scenario.consumers[name].model == "broadcasting" for name in members):
            yield f"the members of {self.offsets} consume by broadcasting: no broker has offsets of the group"

    def run(self, context: RunContext) -> None:
        if self.ownership is not None:
            group = self.ownership
            await_condition(
                context, f"ownership of {group}", lambda: ownership_settled(context, group), self.within
            )
            return
        if self.route is not None:
            routed = self.route
            await_condition(
                context, f"route of {routed}", lambda: route_settled(context, routed), self.within
            )
            return
        topic = str(self.topic)
        if self.subscription is not None:
            settled = SubscriptionSettled(context, self.subscription, topic)
            await_condition(context, f"subscription of {self.subscription} for {topic}", settled, self.within)
        elif self.offsets is not None:
            group, lag = self.offsets, self.lag or 0
            await_condition(
                context,
                f"offsets of {group} for {topic} within lag {lag}",
                lambda: offsets_reached(context, group, topic, lag),
                self.within,
            )
