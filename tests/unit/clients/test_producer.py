"""What a worker is asked when a producer sends."""

from __future__ import annotations

from typing import Any, cast

import pytest

from rocketchaos.harness.clients.producer import Producer
from rocketchaos.harness.core.history import History

ALWAYS = {"name", "topic", "tag", "key", "body", "queue", "timeout_ms", "keys", "properties"}


class Worker:
    """Keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.limits_s: list[float] = []

    def wait_ready(self, limit_s: float) -> None:
        """It is there at once."""

    def request(self, command: str, limit_s: float, **with_: Any) -> dict[str, Any]:
        if command == "start-producer":
            return {"client_id": "p"}
        self.asked.append(with_)
        self.limits_s.append(limit_s)
        where = {"broker": "broker-a", "queue_id": 1, "queue_offset": 0}
        return {"status": "SEND_OK", "msg_id": "1", "offset_msg_id": "2", **where}


def producer(worker: Worker, **settings: Any) -> Producer:
    made = Producer(
        history=History("run"),
        spawn=lambda: cast(Any, worker),
        real=str,
        servers=lambda: {"nameserver": "x:1"},
        locate=lambda *_: {},
        find=lambda *_: None,
        instance="r",
        settings=settings,
    )
    made.start()
    return made


@pytest.mark.parametrize(
    ("tags", "with_", "further"),
    [
        (["tagA"], {}, {}),
        (["tagA"], {"hash_key": "A-$number"}, {"hash_key": "A-1"}),
        (["tagA"], {"how": {"oneway": True}}, {"how": {"oneway": True}}),
        (["tagA", "tagB"], {}, {"batch": [{"tag": "tagB", "key": "orders-2"}]}),
        (
            ["tagA", "tagB"],
            {"body": "of $key"},
            {"batch": [{"tag": "tagB", "key": "orders-2", "body": "of orders-2"}]},
        ),
        (
            ["tagA", "tagB"],
            {"body": ""},
            {"batch": [{"tag": "tagB", "key": "orders-2", "body": ""}]},
        ),
        (
            [None, None],
            {"keys": ["A-$number", "mine"]},
            {"batch": [{"tag": None, "key": "orders-2", "keys": ["A-2", "mine"]}]},
        ),
    ],
)
def test_a_worker_hears_of_a_way_of_sending_only_when_it_is_used(
    tags: list[str], with_: dict[str, Any], further: dict[str, Any]
) -> None:
    """The Go worker refuses a field that it doesn't know, as a worker of a user may."""
    worker = Worker()
    producer(worker).send("orders", tags, None, **with_)
    (asked,) = worker.asked
    assert {name: value for name, value in asked.items() if name not in ALWAYS} == further
    assert set(asked) >= ALWAYS


@pytest.mark.parametrize(
    ("settings", "how", "limit_s"),
    [
        ({}, {}, 8),
        ({"sendMsgTimeout": 500}, {}, 5.5),
        ({}, {"async": True}, 8),
        ({"enableBackpressureForAsyncMode": True}, {}, 8),
        ({"enableBackpressureForAsyncMode": False}, {"async": True}, 8),
        ({"enableBackpressureForAsyncMode": True}, {"async": True}, 53),
    ],
)
def test_with_back_pressure_a_message_may_wait_for_those_before_it(
    settings: dict[str, Any], how: dict[str, Any], limit_s: float
) -> None:
    worker = Worker()
    producer(worker, **settings).send("orders", ["tagA"], None, how=how)
    assert worker.limits_s == [limit_s]
