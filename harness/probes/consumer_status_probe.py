"""What RocketMQ's own tools say of the members' subscriptions: mqadmin consumerStatus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.assertions.consumer_status import ConsumerStatus
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events.observed import ConsumerStatusObserved

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def read_consumer_status(context: ProbeContext, moment: str) -> None:
    """Ask for each group of which a `consumer-status` check wants it, and write down the answers."""
    groups = {check.group for _, _, check in context.scenario.checks() if isinstance(check, ConsumerStatus)}
    for group in sorted(groups):
        keepers = context.servers.keepers_of_group(group)
        if not keepers:
            context.observations.note_failure("consumer-status", "no broker can be asked", group=group)
            continue
        address = next(iter(keepers.values()))
        began_ns = context.now_ns()
        try:
            answer = context.admin.consumer_status(context.names.real(group), address)
        except RequestFailed as failure:
            context.observations.note_failure("consumer-status", str(failure), group=group)
            continue
        data = {"group": group, "alike": answer["alike"], "members": answer["members"]}
        context.observations.write(
            f"consumer-status {group}", ConsumerStatusObserved.kind, data, moment, began_ns
        )
