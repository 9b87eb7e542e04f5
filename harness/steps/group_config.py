"""`group-config`: settings of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.harness.core.events.servers import GroupConfigured
from rocketchaos.harness.language.topic import Settings
from rocketchaos.harness.language.words import GroupName
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class GroupConfig(Step):
    """Change the settings of a group on all brokers, as `mqadmin updateSubGroup` does (200).

    Settings given before, here or under `groups`, stay; all others become RocketMQ's own. It takes effect at
    once.
    """

    word = "group-config"
    example = "group-config: {group: g, set: {consumeEnable: false}}"

    group: GroupName = Field(description="the group")
    settings: Settings = Field(
        alias="set",
        min_length=1,
        description="by RocketMQ's own names: `consumeEnable`, `consumeBroadcastEnable`, `retryQueueNums`, "
        "`retryMaxTimes`",
    )

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.cluster.groups import create_group

        settings = context.servers.group_changed(self.group, self.settings)
        addresses = context.servers.broker_addresses
        create_group(context.admin, context.names.real(self.group), addresses.values(), settings)
        shown = GroupConfigured(group=self.group, settings=settings, brokers=tuple(addresses))
        context.history.append("harness", shown)
