"""Every broker of a topic can be sent to, as far as the name server and the producer know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.language.producer_spec import PRODUCER

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def route_settled(context: ProbeContext, topic: str) -> Seen:
    """Whether the name server routes the topic to every master of it that runs, and the producer knows so.

    The producer asks for routes every 30 s, 1 s compressed (`MQClientInstance.updateTopicRouteInfoFromNameServer`,
    4.9.4), and drops a broker that it doesn't find; one that has not sent to the topic yet asks with the first
    message.
    """
    known_ever = context.scenario.known_to(PRODUCER)
    wanted = {
        broker
        for broker in context.scenario.brokers_of(topic)
        if broker in context.servers.broker_addresses and broker in known_ever
    }
    try:
        routed = {item["broker"] for item in context.admin.route(context.names.real(topic))["queues"]}
    except RequestFailed as failure:
        return Seen(False, f"there is no route: {failure}")
    known = context.producer.routed_brokers(topic)
    missing = sorted(wanted - routed)
    if missing:
        return Seen(False, f"the name server lacks {', '.join(missing)}")
    if known is not None and not wanted <= set(known):
        return Seen(False, f"the producer lacks {', '.join(sorted(wanted - set(known)))}")
    return Seen(True, f"{', '.join(sorted(wanted))} can be sent to")
