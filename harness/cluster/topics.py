"""Topics that are usable once they are reported to exist."""

from collections.abc import Mapping

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.core.errors import EnvironmentNotReady, RequestFailed
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.rocketmq.properties import Value
from rocketchaos.harness.rocketmq.response_codes import NAME_SERVER_NOT_READY

ROUTE_LIMIT_S = 15.0
NO_ROUTE = 17
_ITS_SETTINGS = (
    ". That is `needWaitForService` of `cluster: {namesrv: …}`: it lasts `waitSecondsForService` (45 s), on 5.1.4 "
    "for ever (apache/rocketmq#9182)"
)
_LOOK_EVERY_S = 0.01


def create_routed_topic(
    admin: Admin,
    topic: str,
    settings: Mapping[str, Value],
    brokers: Mapping[str, str],
    *,
    own_perm: bool = True,
) -> None:
    """Create a topic on each broker, or change it, and wait until the name server routes so.

    Brokers tell the name server one-way (`BrokerController.registerBrokerAll`, 4.9.4), so that creation alone
    doesn't say that clients can find the topic.

    Args:
        admin: of the cluster.
        topic: its real name.
        settings: its TopicConfig, `readQueueNums` and `writeQueueNums` at least.
        brokers: name to address.
        own_perm: the route has the topic's own `perm`. False: brokers with a `brokerPermission` change it there.

    Raises:
        EnvironmentNotReady: a broker refused it, or it wasn't routed within 15 s.
    """
    admin.create_topic(topic, settings, list(brokers.values()))
    routed_so = {"readQueueNums": "queues", "writeQueueNums": "write_queues"}
    routed_so |= {"perm": "perm"} if own_perm else {}
    expected = dict.fromkeys(brokers, tuple(settings[name] for name in routed_so if name in settings))

    refusals: list[str] = []

    def routed() -> dict[str, tuple[Value, ...]]:
        try:
            return {
                item["broker"]: tuple(item[text] for name, text in routed_so.items() if name in settings)
                for item in admin.route(topic)["queues"]
            }
        except RequestFailed as failure:
            if failure.code != NO_ROUTE and NAME_SERVER_NOT_READY not in str(failure):
                raise
            refusals[:] = [str(failure)] if failure.code != NO_ROUTE else []
            return {}

    seen = look_until(routed, lambda route: route == expected, ROUTE_LIMIT_S, _LOOK_EVERY_S)
    if seen != expected:
        raise EnvironmentNotReady(
            f"the name server doesn't route topic {topic} to {expected} within {ROUTE_LIMIT_S:g} s; "
            f"last seen: {refusals[0] + _ITS_SETTINGS if refusals else seen}"
        )
