"""In which mode brokers hand a topic's messages out to a group: what consumers in POP mode need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.events.clients import RequestModeSet
from rocketchaos.harness.rocketmq.remoting import SUCCESS

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

_SET_MESSAGE_REQUEST_MODE = 401
_TIMEOUT_MS = 5000
_EVERYBODY = 0
"""popShareQueueNum: every member takes from all queues."""


def set_request_mode(context: ProbeContext, group: str, topic: str, mode: str) -> None:
    """Tell every broker of the topic, and write it down.

    It counts for those members that ask the brokers for their queues (setClientRebalance(false)); the others don't
    notice (QueryAssignmentProcessor.setMessageRequestMode; 5.0.0 to 5.5.0). Brokers keep it, and it can be said
    again.

    Raises:
        EnvironmentNotReady: a broker refused it.
        RequestFailed: a broker could not be asked.
    """
    brokers = []
    for broker in context.scenario.brokers_of(topic):
        address = context.servers.broker_addresses.get(broker)
        if address is None:
            continue  # a step has taken it away
        body = json.dumps(
            {
                "topic": context.names.real(topic),
                "consumerGroup": context.names.real(group),
                "mode": mode,
                "popShareQueueNum": _EVERYBODY,
            }
        )
        answer = context.admin.raw(address, _SET_MESSAGE_REQUEST_MODE, {}, body, _TIMEOUT_MS)
        if answer.code != SUCCESS:
            raise EnvironmentNotReady(
                f"{broker} doesn't set the mode of group {group} to {mode} (code {answer.code}): "
                f"{answer.remark or 'no remark'}",
                "POP is a matter of RocketMQ 5 and newer.",
            )
        brokers.append(broker)
    done = RequestModeSet(group=group, topic=topic, mode=mode, brokers=tuple(brokers))
    context.history.append("harness", done)
