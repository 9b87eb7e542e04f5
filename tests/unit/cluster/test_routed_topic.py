"""A topic that is created: what the name server must say of it before anybody uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.cluster import topics
from rocketchaos.harness.cluster.topics import create_routed_topic
from rocketchaos.harness.core.errors import EnvironmentNotReady

SETTINGS = {"readQueueNums": 1, "writeQueueNums": 1, "perm": 2}


class BrokerWithPermission:
    """An admin client of a cluster whose broker may only be read."""

    def create_topic(self, topic: str, settings: Mapping[str, Any], brokers: Sequence[str]) -> None: ...

    def route(self, topic: str) -> dict[str, Any]:
        return {"queues": [{"broker": "broker-a", "queues": 1, "write_queues": 1, "perm": 4}]}


def test_the_permission_of_a_route_may_be_the_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "ROUTE_LIMIT_S", 0.2)
    admin, brokers = cast("Admin", BrokerWithPermission()), {"broker-a": "127.0.0.1:1"}
    create_routed_topic(admin, "orders", SETTINGS, brokers, own_perm=False)
    with pytest.raises(EnvironmentNotReady, match="doesn't route topic orders"):
        create_routed_topic(admin, "orders", SETTINGS, brokers)
