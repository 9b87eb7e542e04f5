"""A topic that is created: what the name server must say of it before anybody uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.cluster import topics
from rocketchaos.harness.cluster.topics import create_routed_topic
from rocketchaos.harness.core.errors import EnvironmentNotReady, RequestFailed

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


class ReadyLater:
    """An admin client of a cluster whose name server has needWaitForService."""

    def __init__(self, refusals: Sequence[RequestFailed]) -> None:
        self.refusals = list(refusals)

    def create_topic(self, topic: str, settings: Mapping[str, Any], brokers: Sequence[str]) -> None: ...

    def route(self, topic: str) -> dict[str, Any]:
        if self.refusals:
            raise self.refusals.pop(0)
        return {"queues": [{"broker": "broker-a", "queues": 1, "write_queues": 1, "perm": 2}]}


BROKERS = {"broker-a": "127.0.0.1:1"}
NOT_READY = RequestFailed("127.0.0.1:2: name server not ready (code 1)", 1)


def test_a_name_server_that_is_not_ready_yet_is_asked_again() -> None:
    admin = ReadyLater([NOT_READY] * 3)
    create_routed_topic(cast("Admin", admin), "orders", SETTINGS, BROKERS)
    assert admin.refusals == []


def test_one_that_never_is_ready_is_named_with_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "ROUTE_LIMIT_S", 0.2)
    with pytest.raises(EnvironmentNotReady, match=r"name server not ready.*`needWaitForService` of `cluster"):
        create_routed_topic(cast("Admin", ReadyLater([NOT_READY] * 1000)), "orders", SETTINGS, BROKERS)


def test_another_refusal_of_the_name_server_ends_it_at_once() -> None:
    refusals = [RequestFailed("127.0.0.1:2: busy (code 2)", 2)]
    with pytest.raises(RequestFailed, match="busy"):
        create_routed_topic(cast("Admin", ReadyLater(refusals)), "orders", SETTINGS, BROKERS)
