"""`delete-group`: a group goes away, perhaps while its members run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.harness.core.events.servers import GroupDeleted
from rocketchaos.harness.language.topic import DEAD_LETTERS, RETRY
from rocketchaos.harness.language.words import GroupName
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.steps.context import StepContext


class DeleteGroup(Step):
    """Delete a group, as `mqadmin deleteSubGroup` does (207), with its retry and its dead-letter topic.

    Its members may run on: the broker creates the group again with their next heartbeat, if its
    `autoCreateSubscriptionGroup` is true, as it is by default. The group's offsets stay, unless `offsets` is true.
    """

    word = "delete-group"
    example = "delete-group: {group: g, offsets: true}"
    shorthand = "group"

    group: GroupName = Field(description="the group")
    offsets: bool = Field(
        default=False, description="its offsets are removed too (`-r true`): removeOffset, 5.x cleanOffset"
    )

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.cluster.deleting import delete_group, delete_topic

        real, addresses = context.names.real(self.group), context.servers.broker_addresses
        delete_group(real, addresses, offsets=self.offsets)
        for prefix in (RETRY, DEAD_LETTERS):
            delete_topic(context.servers, prefix + real, addresses)
        context.servers.group_deleted(self.group)
        deleted = GroupDeleted(group=self.group, offsets=self.offsets, brokers=tuple(addresses))
        context.history.append("harness", deleted)
