"""Several name servers asked as if they were one: an answer of any of them counts.

RocketMQ's own client asks one of them, and another one only where that answers no more
(`NettyRemotingClient.getAndCreateNameserverChannel`, 4.9.4 and 5.5.0). So there is an admin client for each.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jpype

from rocketchaos.harness.workers.child import jvm

_ONE_TIMEOUT_MS, _EACH_TIMEOUT_MS = 5_000, 2_000
"""How long a name server may take: where it is the only one, and where there are others to ask."""


class AllNameServers:
    """Started admin clients, each with one name server."""

    def __init__(self, admins: Sequence[Any]) -> None:
        """`admins` are DefaultMQAdminExt, as many as there are name servers."""
        self.admins = tuple(admins)
        # Its accessors came with 5.x; the fields are the same in all versions.
        self.instances = tuple(
            jvm.private_field(jvm.private_field(admin, "defaultMQAdminExtImpl"), "mqClientInstance")
            for admin in admins
        )
        self._timeout_ms = jpype.JLong(_ONE_TIMEOUT_MS if len(self.admins) == 1 else _EACH_TIMEOUT_MS)

    def routes(self, topic: str) -> list[Any]:
        """TopicRouteData of each that answers and has one.

        Raises:
            jpype.JException: no name server has one; the exception is the first answer, or else the first error.
        """
        return self._asked(lambda api: api.getTopicRouteInfoFromNameServer(topic, self._timeout_ms))

    def broker_tables(self) -> list[Any]:
        """The brokers' addresses by their names, of each that answers; raises as `routes`."""
        return [info.getBrokerAddrTable() for info in self._asked(self._cluster_info)]

    def _cluster_info(self, api: Any) -> Any:
        return api.getBrokerClusterInfo(self._timeout_ms)

    def _asked(self, ask: Callable[[Any], Any]) -> list[Any]:
        answers, failures = [], []
        for instance in self.instances:
            try:
                answers.append(ask(instance.getMQClientAPIImpl()))
            except jpype.JException as failure:
                failures.append(failure)
        if not answers:
            # One that has no route tells more than one that doesn't answer.
            raise min(failures, key=lambda failure: jvm.failure(failure).code is None)
        return answers

    def first_that_can(self, do: Callable[[Any], Any], of: Sequence[Any]) -> Any:
        """What the first of these admin clients, or instances, makes of it that doesn't fail.

        Raises:
            jpype.JException: all fail; it is what the last one says.
        """
        for item in of[:-1]:
            try:
                return do(item)
            except jpype.JException:
                continue
        return do(of[-1])
