"""The `java` and `admin` workers against a real broker."""

from __future__ import annotations

import base64
import itertools
import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from harness.cluster import artifacts
from harness.cluster.base import Cluster
from harness.cluster.java_home import find_java
from harness.errors import EnvironmentNotReady
from harness.model import Trouble
from harness.timing import COMPRESSED
from harness.workers.events import WorkerEvent
from harness.workers.handle import Worker, WorkerFailed
from harness.workers.kinds import KINDS
from harness.workers.on_host import OnHost

pytestmark = pytest.mark.embedded

LIMIT_S = 30.0
CONSUMER_MB = 120
PULL_MESSAGE, QUERY_OFFSET, UPDATE_OFFSET, CREATE_GROUP, NO_SUCH_CODE = 11, 14, 15, 200, 9999
Event = Mapping[str, Any]


def until(look: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
    """What `look` gives as soon as it holds."""
    retrying = Retrying(
        stop=stop_after_delay(LIMIT_S),
        wait=wait_fixed(0.05),
        retry=retry_if_result(lambda seen: not holds(seen)),
    )
    try:
        return retrying(look)
    except RetryError as error:
        raise AssertionError(f"not within {LIMIT_S} s; last seen: {error.last_attempt.result()}") from None


class Seen:
    """What workers reported."""

    def __init__(self) -> None:
        self._events: list[WorkerEvent] = []
        self._changed = threading.Condition()

    def on_event(self, event: WorkerEvent) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def of(self, consumer: str, kind: str) -> list[Event]:
        with self._changed:
            return [
                event.data
                for event in self._events
                if event.kind == kind and event.data.get("consumer") == consumer
            ]

    def wait(self, consumer: str, kind: str, count: int) -> list[Event]:
        with self._changed:
            self._changed.wait_for(lambda: len(self.of(consumer, kind)) >= count, LIMIT_S)
        found = self.of(consumer, kind)
        assert len(found) >= count, f"{found} within {LIMIT_S} s"
        return found


class Bench:
    """Workers against the cluster, and short ways to use them."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.seen = Seen()
        self.deaths: list[tuple[str, str, Trouble]] = []
        self.workers: list[Worker] = []
        self.numbers = itertools.count()
        self.broker = cluster.nodes[1]
        self.admin = self.spawn("admin", "admin")
        self.java = self.spawn("java", "java")
        self.admin.wait_ready(LIMIT_S)
        self.ask("connect", nameserver=cluster.nameserver, instance="admin")
        self.java.wait_ready(LIMIT_S)
        self.java.request("start-producer", LIMIT_S, name="p", group="p", **self.identity("p"))

    def spawn(self, kind: str, name: str, *options: str) -> Worker:
        role = KINDS[kind].classpath_role
        assert role in ("client", "tools")
        worker = Worker.spawn(
            KINDS[kind],
            name,
            home=OnHost("tests", find_java()),
            classpath=artifacts.classpath(self.cluster.version, role),
            jvm_options=[
                *(f"-D{key}={value}" for key, value in COMPRESSED.client_system_properties.items()),
                *options,
            ],
            log_folder=self.folder,
            on_event=self.seen.on_event,
            on_death=lambda *death: self.deaths.append(death),
        )
        self.workers.append(worker)
        return worker

    def identity(self, name: str) -> dict[str, str]:
        return {"nameserver": self.cluster.nameserver, "client_ip": f"ip-{name}", "instance": "i"}

    def ask(self, do: str, **with_: Any) -> dict[str, Any]:
        return self.admin.request(do, LIMIT_S, **with_)

    def raw(self, code: int, body: str | None = None, **fields: str) -> dict[str, Any]:
        address = self.broker.address
        return self.ask("raw", address=address, code=code, fields=fields, body=body, timeout_ms=3000)

    def topic(self, queues: int = 4) -> str:
        topic = f"topic-{next(self.numbers)}"
        self.ask("create-topic", topic=topic, queues=queues, broker_addresses=[self.broker.address])
        return topic

    def consume(
        self, topic: str, expression: str, *, group: str, worker: Worker | None = None, **more: Any
    ) -> str:
        """Start a consumer; returns its name."""
        name = f"c-{next(self.numbers)}"
        answer = (worker or self.java).request(
            "start-consumer",
            LIMIT_S,
            name=name,
            group=group,
            subscribe={topic: expression},
            settings=dict(COMPRESSED.client_settings),
            **self.identity(name),
            **more,
        )
        assert answer == {"client_id": f"ip-{name}@i"}
        return name

    def send(self, topic: str, tag: str | None, queue_id: int | None, key: str = "k") -> dict[str, Any]:
        queue = None if queue_id is None else {"broker": self.broker.name, "id": queue_id}
        message = {"topic": topic, "tag": tag, "key": key, "body": "hello"}
        return self.java.request("send", LIMIT_S, name="p", queue=queue, timeout_ms=3000, **message)

    def connection(self, group: str) -> dict[str, Any]:
        return self.ask("connection", group=group, broker_address=self.broker.address)

    def offsets(self, group: str, topic: str) -> list[tuple[int, int | None]]:
        """Maximum and the group's offset, by queue."""
        queues = self.ask("offsets", group=group, topic=topic)["queues"]
        assert [(queue["broker"], queue["queue_id"]) for queue in queues] == [
            (self.broker.name, number) for number in range(len(queues))
        ]
        return [(queue["max_offset"], queue["consumer_offset"]) for queue in queues]

    def pull_counts(self, name: str, topic: str) -> tuple[int, int]:
        counts = self.java.request("pull-counts", LIMIT_S, name=name, topic=topic)
        return counts["found_pulls"], counts["passed_messages"]


@pytest.fixture(scope="module")
def bench(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(cluster, tmp_path_factory.mktemp("workers"))
    yield bench
    for worker in bench.workers:
        worker.kill()


@pytest.fixture
def group(bench: Bench) -> str:
    return f"group-{next(bench.numbers)}"


def test_a_consumer_reports_each_message_with_queue_offset_and_ids(bench: Bench, group: str) -> None:
    topic = bench.topic()
    name = bench.consume(topic, "tagA", group=group)
    sent = [bench.send(topic, "tagA", queue, key=f"k{queue}") for queue in (2, 3)]
    sent.append(bench.send(topic, "tagA", 2, key="k2-again"))
    assert [answer["status"] for answer in sent] == ["SEND_OK"] * 3
    assert [(answer["queue_id"], answer["queue_offset"]) for answer in sent] == [(2, 0), (3, 0), (2, 1)]

    bench.seen.wait(name, "consumed", 3)
    received = {event["key"]: event for event in bench.seen.of(name, "received")}
    for key, answer in zip(("k2", "k3", "k2-again"), sent, strict=True):
        assert received[key] == {
            "consumer": name,
            "topic": topic,
            "tag": "tagA",
            "key": key,
            "keys": [],
            "broker": bench.broker.name,
            "queue_id": answer["queue_id"],
            "offset": answer["queue_offset"],
            "msg_id": answer["msg_id"],
            "offset_msg_id": answer["offset_msg_id"],
            "reconsume_times": 0,
        }
    assert sorted(bench.seen.of(name, "consumed"), key=lambda event: str(event["key"])) == [
        {
            "consumer": name,
            "key": key,
            "msg_id": received[key]["msg_id"],
            "offset_msg_id": received[key]["offset_msg_id"],
            "status": "CONSUME_SUCCESS",
        }
        for key in ("k2", "k2-again", "k3")
    ]


def test_without_a_queue_messages_go_round(bench: Bench) -> None:
    topic = bench.topic()
    assert sorted(bench.send(topic, None, None)["queue_id"] for _ in range(4)) == [0, 1, 2, 3]


def test_connection_and_running_info_tell_both_views_of_the_subscription(bench: Bench, group: str) -> None:
    topic = bench.topic()
    name = bench.consume(topic, "Aa || tagB", group=group)

    def views() -> tuple[dict[str, Any], dict[str, Any]]:
        broker = bench.broker.address
        client_id = f"ip-{name}@i"
        running = bench.ask(
            "running-info", group=group, client_id=client_id, broker_address=broker, timeout_ms=3000
        )
        return bench.connection(group), running

    connection, running = until(
        views,
        lambda seen: (
            len([queue for queue in seen[1]["queues"] if queue["topic"] == topic]) == 4
            and seen[0]["subscriptions"][topic]["sub_version"]
            == seen[1]["subscriptions"][topic]["sub_version"]
        ),
    )
    [client] = connection["connections"]
    assert (client["client_id"], client["language"]) == (f"ip-{name}@i", "JAVA")
    assert client["address"].startswith("127.0.0.1:")
    assert client["version"] > 0
    stored = connection["subscriptions"][topic]
    # The codes are Java's String.hashCode.
    assert (stored["expression"], stored["tags"], stored["codes"]) == (
        "Aa || tagB",
        ["Aa", "tagB"],
        [2112, 3552232],
    )
    assert stored["sub_version"] > 1_500_000_000_000  # a time in ms, longer than 32 bits
    assert set(connection["subscriptions"]) == {topic, f"%RETRY%{group}"}
    assert (connection["consume_type"], connection["message_model"], connection["consume_from_where"]) == (
        "CONSUME_PASSIVELY",
        "CLUSTERING",
        "CONSUME_FROM_FIRST_OFFSET",
    )
    assert running["subscriptions"][topic]["expression"] == "Aa || tagB"
    queues = sorted(queue["queue_id"] for queue in running["queues"] if queue["topic"] == topic)
    assert queues == [0, 1, 2, 3]
    assert {queue["broker"] for queue in running["queues"]} == {bench.broker.name}


def test_two_members_in_one_worker_are_two_clients(bench: Bench, group: str) -> None:
    topic = bench.topic()
    names = [bench.consume(topic, expression, group=group) for expression in ("tagA", "tagB")]
    connections = bench.connection(group)["connections"]
    assert [client["client_id"] for client in connections] == sorted(f"ip-{name}@i" for name in names)
    assert len({client["address"] for client in connections}) == 2


def test_offsets_follow_what_was_sent_and_consumed(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=2)
    assert bench.offsets(group, topic) == [(0, None), (0, None)]
    for _ in range(3):
        bench.send(topic, "tagA", 1)
    until(lambda: bench.offsets(group, topic), lambda seen: seen == [(0, None), (3, None)])
    bench.consume(topic, "tagA", group=group)
    until(lambda: bench.offsets(group, topic)[1], lambda seen: seen == (3, 3))


def test_a_stored_zero_is_told_from_no_offset_where_code_14_can_not(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=2)
    for queue in (0, 1):
        bench.send(topic, "tagA", queue)
    # From 5.3 on a broker stores no offset for a group that it doesn't know.
    assert bench.raw(CREATE_GROUP, body=json.dumps({"groupName": group}))["code"] == 0
    of_queue_0 = {"consumerGroup": group, "topic": topic, "queueId": "0"}
    assert bench.raw(UPDATE_OFFSET, commitOffset="0", **of_queue_0)["code"] == 0
    until(lambda: bench.offsets(group, topic), lambda seen: seen == [(1, 0), (1, None)])
    answer = bench.raw(QUERY_OFFSET, **of_queue_0 | {"queueId": "1"})
    assert (answer["code"], answer["fields"]["offset"]) == (0, "0")


def test_create_topic_sets_the_number_of_queues(bench: Bench) -> None:
    topic = bench.topic(queues=3)
    until(
        lambda: bench.ask("route", topic=topic),
        lambda seen: seen == {"queues": [{"broker": bench.broker.name, "queues": 3}]},
    )
    assert bench.ask("cluster") == {"brokers": [{"name": bench.broker.name, "address": bench.broker.address}]}


def test_tracks_say_what_the_tools_say(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    matching, other = (bench.send(topic, tag, 0) for tag in ("tagA", "tagB"))

    def track(sent: Mapping[str, Any]) -> list[dict[str, Any]]:
        tracks = bench.ask("tracks", topic=topic, offset_msg_id=sent["offset_msg_id"])["tracks"]
        # 5.3.3 lists a group of the topic's name besides, which doesn't exist.
        return [dict(track) for track in tracks if track["group"] != topic]

    assert track(matching) == []  # no group knows the topic
    bench.consume(topic, "tagA", group=group)
    wanted = [{"group": group, "type": "CONSUMED", "exception": None}]
    until(lambda: track(matching), lambda seen: seen == wanted)
    wanted = [{"group": group, "type": "CONSUMED_BUT_FILTERED", "exception": None}]
    until(lambda: track(other), lambda seen: seen == wanted)


def test_pull_counts_tell_the_brokers_filter_from_the_clients(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    name = bench.consume(topic, "Aa", group=group)
    assert bench.pull_counts(name, topic) == (0, 0)
    bench.send(topic, "tagB", 0)
    until(lambda: bench.offsets(group, topic), lambda seen: seen == [(1, 1)])
    assert bench.pull_counts(name, topic) == (0, 0)  # the broker passed over it
    bench.send(topic, "BB", 0)  # the same hash as Aa: only the client can tell
    until(lambda: bench.pull_counts(name, topic), lambda seen: seen == (1, 0))
    assert bench.seen.of(name, "received") == []
    bench.send(topic, "Aa", 0)
    until(lambda: bench.pull_counts(name, topic), lambda seen: seen == (2, 1))
    assert [event["tag"] for event in bench.seen.wait(name, "received", 1)] == ["Aa"]


def test_a_failed_message_comes_again_under_its_own_topic(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    name = bench.consume(topic, "*", group=group, behaviour={"fail": 1}, retry_delay_level=1)
    sent = bench.send(topic, "tagA", 0)
    consumed = bench.seen.wait(name, "consumed", 2)
    first, again = bench.seen.of(name, "received")
    assert [event["status"] for event in consumed] == ["RECONSUME_LATER", "CONSUME_SUCCESS"]
    assert (first["reconsume_times"], again["reconsume_times"]) == (0, 1)
    assert first["topic"] == again["topic"] == topic
    assert first["msg_id"] == again["msg_id"] == sent["msg_id"]
    assert first["offset_msg_id"] == sent["offset_msg_id"] != again["offset_msg_id"]


def test_an_exception_in_the_listener_is_told_and_the_message_comes_again(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    name = bench.consume(topic, "*", group=group, behaviour={"fail": "no number"}, retry_delay_level=1)
    bench.send(topic, "tagA", 0)
    errors = bench.seen.wait(name, "listener-error", 2)
    assert all(error["error"].startswith("TypeError: ") for error in errors)
    assert [event["reconsume_times"] for event in bench.seen.of(name, "received")][:2] == [0, 1]
    assert bench.seen.of(name, "consumed") == []
    bench.java.request("stop-consumer", LIMIT_S, name=name)


def test_the_broker_drops_a_killed_consumer(bench: Bench, group: str) -> None:
    topic = bench.topic()
    worker = bench.spawn("java", "victim")
    worker.wait_ready(LIMIT_S)
    name = bench.consume(topic, "tagA", group=group, worker=worker)
    bench.send(topic, "tagA", 0)
    bench.seen.wait(name, "consumed", 1)
    assert psutil.Process(worker.pid).memory_info().rss < CONSUMER_MB * 1_000_000
    assert len(bench.connection(group)["connections"]) == 1

    worker.kill()
    assert worker.returncode == -signal.SIGKILL
    assert until(lambda: failure(lambda: bench.connection(group)), lambda seen: seen is not None).code == 206

    # What it printed is no protocol, and what its client logged lies beside it.
    assert '"kind"' not in worker.log.read_text()
    assert group in (bench.folder / "victim" / "rocketmq_client.log").read_text()


def failure(call: Callable[[], object]) -> WorkerFailed | None:
    try:
        call()
    except WorkerFailed as failed:
        return failed
    return None


def test_stop_consumer_says_goodbye(bench: Bench, group: str) -> None:
    name = bench.consume(bench.topic(), "*", group=group)
    assert bench.connection(group)["connections"] != []
    bench.java.request("stop-consumer", LIMIT_S, name=name)
    with pytest.raises(WorkerFailed) as raised:
        bench.connection(group)
    assert raised.value.code == 206
    with pytest.raises(WorkerFailed, match=f"nothing named `{name}` runs in this worker"):
        bench.java.request("stop-consumer", LIMIT_S, name=name)


def test_refusals_carry_response_codes_and_one_line(bench: Bench) -> None:
    known = bench.topic(queues=1)
    refused = {
        206: lambda: bench.connection("nobody"),
        17: lambda: bench.ask("route", topic="nowhere"),
        13: lambda: bench.java.request(
            "send", LIMIT_S, name="p", topic=known, tag=None, key=None, body="", queue=None, timeout_ms=3000
        ),
    }
    for code, call in refused.items():
        failed = failure(call)
        assert failed is not None
        assert failed.code == code
        assert "\n" not in failed.message
    failed = failure(lambda: bench.send(known, "tagA", 99))
    assert failed is not None
    assert failed.code in (1, 29)  # 5.x has a code of its own for a queue that isn't there
    # Looking has brought nobody online.
    bench.ask("offsets", group="nobody", topic=known)
    with pytest.raises(WorkerFailed, match="not online"):
        bench.connection("nobody")


def test_what_the_client_refuses_has_no_code(bench: Bench, group: str) -> None:
    topic = bench.topic()
    for with_, said in (
        (
            {"settings": {"heartbeats": 1}},
            "DefaultMQPushConsumer of this version has no setting `heartbeats`",
        ),
        ({"settings": {"pullBatchSize": "many"}}, "setPullBatchSize doesn't take 'many'"),
        ({"subscribe": {topic: "||"}}, "subString split error"),
        ({"group": "no group!"}, "illegal characters"),
    ):
        wanted = {
            "name": "x",
            "group": group,
            "subscribe": {topic: "*"},
            "settings": {},
            **bench.identity("x"),
        }
        with pytest.raises(WorkerFailed, match=said) as raised:
            bench.java.request("start-consumer", LIMIT_S, **wanted | with_)
        assert raised.value.code is None
        assert "\n" not in raised.value.message


def test_a_raw_request_is_answered_whatever_the_code(bench: Bench, group: str) -> None:
    topic = bench.topic(queues=1)
    bench.consume(topic, "tagA", group=group)
    bench.send(topic, "tagA", 0)
    until(lambda: bench.offsets(group, topic)[0][0], lambda seen: seen == 1)
    fields = {"consumerGroup": group, "topic": topic, "queueId": "0", "queueOffset": "0", "maxMsgNums": "8"}
    fields |= {"sysFlag": "0", "commitOffset": "0", "suspendTimeoutMillis": "0", "subVersion": "0"}
    pulled = bench.raw(PULL_MESSAGE, **fields)
    assert (pulled["code"], pulled["remark"], pulled["body"]) == (0, "FOUND", None)
    assert pulled["fields"]["nextBeginOffset"] == "1"
    assert b"hello" in base64.b64decode(pulled["body_base64"])
    assert bench.raw(NO_SUCH_CODE)["code"] == 3
    with pytest.raises(WorkerFailed, match=r"connect to 127\.0\.0\.1:1 failed") as raised:
        bench.ask("raw", address="127.0.0.1:1", code=1, fields={}, body=None, timeout_ms=1000)
    assert raised.value.code is None


def test_a_jvm_that_does_not_start_says_why(bench: Bench) -> None:
    worker = bench.spawn("java", "stillborn", "-XX:+NoSuchOption")
    with pytest.raises(EnvironmentNotReady, match=r"worker stillborn died: exit code 1; (.|\n)*NoSuchOption"):
        worker.wait_ready(LIMIT_S)
    # What the other tests started lives on.
    assert bench.deaths == [("stillborn", "exit code 1", Trouble.ENVIRONMENT)]
