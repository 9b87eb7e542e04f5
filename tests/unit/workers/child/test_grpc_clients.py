"""Clients of the `grpc` worker over a stand-in for rocketmq-python-client."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rocketchaos.harness.workers.child.client_worker import Outgoing
from rocketchaos.harness.workers.protocol import CommandFailed

_CHILD = "rocketchaos.harness.workers.child"


class ClientException(Exception):
    """The client's own."""


class IllegalArgumentException(ClientException):
    """As the client's message raises it."""


class Message:
    """Refuses topics with a bar, as the client's does."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "topic" and "|" in value:
            raise IllegalArgumentException("topic does not match the regex")
        super().__setattr__(name, value)


class _Client(ModuleType):
    """A module of the client: of what it isn't given it has something."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: self


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of the worker over such a client; nothing of it stays."""
    for name in ("rocketmq", "rocketmq.grpc_protocol", "rocketmq.v5", "rocketmq.v5.exception"):
        monkeypatch.setitem(sys.modules, name, _Client(name))
    client: Any = sys.modules["rocketmq"]
    client.Message, client.MessageListener = Message, object
    client.ConsumeResult = SimpleNamespace(SUCCESS=0, FAILURE=1)
    exceptions: Any = sys.modules["rocketmq.v5.exception"]
    exceptions.ClientException = ClientException
    for name in ("grpc_messages", "grpc_producer", "grpc_consumer"):
        monkeypatch.setitem(sys.modules, f"{_CHILD}.{name}", ModuleType(name))
        del sys.modules[f"{_CHILD}.{name}"]
    return lambda name: importlib.import_module(f"{_CHILD}.{name}")


def test_a_message_that_the_client_refuses_is_refused_and_no_defect(child: Any) -> None:
    producer = child("grpc_producer").GrpcProducer("127.0.0.1:8081")
    with pytest.raises(CommandFailed, match="topic does not match the regex") as refused:
        producer.send(Outgoing("eu|orders", None, ["k"], {}, body="k", queue=None, timeout_ms=3000))
    assert refused.value.exceptions == ("IllegalArgumentException",)


def test_each_retry_of_an_orderly_group_s_client_counts(child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client hands the same message over again, with the count that the proxy gave it."""
    module = child("grpc_consumer")
    monkeypatch.setattr(module, "described_message", lambda _message: {"reconsume_times": 2})
    seen: list[int] = []

    def receive(described: list[dict[str, int]]) -> tuple[Any, bool]:
        seen.append(described[0]["reconsume_times"])
        return described, False

    callback = module._Callback(SimpleNamespace(receive=receive, report=lambda *_: None))
    message = SimpleNamespace()
    for one in (message, message, SimpleNamespace(), message):
        callback.consume(one)
    assert seen == [2, 3, 2, 4]
