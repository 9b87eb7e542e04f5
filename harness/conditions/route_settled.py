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
        masters = context.admin.masters(context.names.real(topic))
    except RequestFailed as failure:
        return Seen(False, f"there is no route: {failure}")
    if not masters:
        return Seen(False, "the name server knows no master of it")
    if missing := sorted(wanted - {name for name, _ in masters}):
        return Seen(False, f"the name server lacks {', '.join(missing)}")
    known = context.producer.routed_brokers(topic)
    if known is not None:
        if missing := sorted(wanted - set(known)):
            return Seen(False, f"the producer lacks {', '.join(missing)}")
        if stale := sorted(set(known.items()) - masters):
            # Of a slave that has become the master in its place.
            return Seen(False, f"the producer has other addresses: {', '.join(map(' at '.join, stale))}")
    return Seen(True, f"{', '.join(sorted(name for name, _ in masters))} can be sent to")
