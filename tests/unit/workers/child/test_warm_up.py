"""The Java worker's commands wait until its classes are loaded."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from rocketchaos.harness.workers.child import java_child
from rocketchaos.harness.workers.child.java_child import after


def test_a_command_begins_once_all_is_loaded() -> None:
    may_end, calls = threading.Event(), []
    warm_up = threading.Thread(target=may_end.wait, args=(30,), daemon=True)
    warm_up.start()

    def handler(**with_: Any) -> Mapping[str, Any] | None:
        calls.append((with_, warm_up.is_alive()))
        return {"started": True}

    command = threading.Thread(target=after(warm_up, handler), kwargs={"name": "a"}, daemon=True)
    command.start()
    assert calls == []
    may_end.set()
    command.join(30)
    assert calls == [({"name": "a"}, False)]


def test_the_warm_up_goes_on_where_a_version_lacks_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def lacks_most(name: str) -> Any:
        asked.append(name)
        if name != java_child._WARM_UP[0]:
            raise TypeError(f"Class {name} is not found")
        return lambda _group: None

    monkeypatch.setattr("jpype.JClass", lacks_most)
    java_child._warm_up()
    expected = {
        "java.lang.reflect.Field[]",
        "org.apache.rocketmq.common.message.MessageExt",
        "org.apache.rocketmq.client.producer.SendResult",
        "org.apache.rocketmq.remoting.protocol.heartbeat.SubscriptionData",
    }
    assert expected <= set(asked)
    assert len(asked) - 1 == len(set(asked)), "only the client that it makes is asked for twice"
