"""Which tag and which queue each message of a `send` gets, and when it is due."""

from __future__ import annotations

import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import ValidationError

from rocketchaos.assertions.transaction_checked import TransactionChecked
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.clients.filled import filled
from rocketchaos.harness.core.errors import EnvironmentNotReady, PreconditionNotMet
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.steps.context import StepContext
from rocketchaos.harness.steps.send import Send
from tests.unit.history_builder import HistoryBuilder, scenario_of
from tests.unit.scenario.examples import scenario_text

QUEUES = (("broker-a", 0), ("broker-a", 1), ("broker-b", 0), ("broker-b", 1))


class Context:
    """Takes messages down instead of sending them; a clock that a wait moves."""

    def __init__(self, refuses: int = 0) -> None:
        self.sent: list[dict[str, Any]] = []
        self.waits: list[int] = []
        self.clock_ms = 1000.0
        producer = SimpleNamespace(send=self._send)
        self.asked_for: list[str] = []
        self.members = SimpleNamespace(producer=lambda name: self.asked_for.append(name) or producer)
        self._refuses = refuses
        self.servers = self.variables = self
        self.scenario = SimpleNamespace(file="s.scenario.yaml")

    def _send(self, topic: str, tags: list[str | None], queue: Any, **more: Any) -> str:
        shown = more.pop("how")
        how = {"how": shown} if shown else {}
        item = {"tag": tags[0]} if len(tags) == 1 else {"tags": tags}
        self.sent.append({"topic": topic, **item, "queue": queue, **more, **how})
        self.clock_ms += 7
        return "" if len(self.sent) > self._refuses else "FLUSH_DISK_TIMEOUT"

    def written_queues(self, topic: str) -> Any:
        return QUEUES

    def tag(self, tag: str | None, topic: str) -> str | None:
        return tag

    def now_ns(self) -> int:
        return int(self.clock_ms * 1e6)

    def check_alive(self) -> None:
        """Everything lives."""

    def let_time_pass(self, duration_ms: int) -> None:
        self.waits.append(duration_ms)
        self.clock_ms += duration_ms


def sent_by(fields: dict[str, Any], context: Context | None = None) -> Context:
    made = context or Context()
    Send.model_validate({"topic": "orders", **fields}).run(cast(StepContext, made))
    return made


def test_with_per_queue_each_queue_gets_the_tags_in_turn() -> None:
    sent = sent_by({"count": 16, "per_queue": 4, "tags": ["tagA", "tagB"]}).sent
    for queue in QUEUES:
        assert [item["tag"] for item in sent if item["queue"] == queue] == ["tagA", "tagB", "tagA", "tagB"]


def test_without_queues_the_tags_go_round_and_the_producer_chooses() -> None:
    sent = sent_by({"count": 3, "tags": ["tagA", "tagB"]}).sent
    assert [(item["tag"], item["queue"]) for item in sent] == [("tagA", None), ("tagB", None), ("tagA", None)]


def test_hash_keys_go_in_turn_and_a_send_names_its_producer() -> None:
    context = sent_by({"count": 3, "hash_key": ["A", "B"], "producer": "p2"})
    assert [item["hash_key"] for item in context.sent] == ["A", "B", "A"]
    assert context.asked_for == ["p2"]


def test_with_a_callback_all_are_sent_before_the_step_ends() -> None:
    context = sent_by({"count": 40, "async": True, "tags": ["tagA", "tagB"]})
    assert [item["how"] for item in context.sent] == [{"async": True}] * 40
    assert sorted(item["tag"] for item in context.sent) == ["tagA"] * 20 + ["tagB"] * 20
    with pytest.raises(PreconditionNotMet, match=r"3 of 4 messages to orders"):
        sent_by({"count": 4, "async": True}, Context(refuses=3))


@pytest.mark.parametrize(
    ("other", "allowed"),
    [
        ({"delay_level": 1}, True),
        ({"batch": 2}, True),
        ({"batch": 2, "delay": "1s"}, True),
        ({"request": "3s"}, True),
        ({"oneway": True}, False),
        ({"transaction": {"state": "commit"}}, False),
    ],
    ids=str,
)
def test_what_goes_with_a_callback(other: dict[str, Any], allowed: bool) -> None:
    fields = {"topic": "orders", "count": 4, "async": True, **other}
    if allowed:
        assert "async" in Send.model_validate(fields).ways
    else:
        with pytest.raises(ValidationError, match="can't be sent with"):
            Send.model_validate(fields)


@pytest.mark.parametrize(
    ("delay", "asked"), [({"delay": "3s"}, ("delay_ms", 3000)), ({"delay_level": 3}, ("delay_level", 3))]
)
def test_a_transaction_goes_with_a_delay(delay: dict[str, Any], asked: tuple[str, int]) -> None:
    how = sent_by({"count": 1, "transaction": {"state": "commit"}, **delay}).sent[0]["how"]
    assert how == {"transaction": {"state": "commit", "checked": "unknown"}, asked[0]: asked[1]}


def test_a_producer_that_nobody_declares_is_refused() -> None:
    send = "send: {topic: orders, tag: tagA, count: 1, producer: p3}"
    with pytest.raises(InvalidScenario, match="there is no producer `p3`"):
        parse_scenario(scenario_text("start: [a, b, c]", send), "s.yaml")


@pytest.mark.parametrize("other", [{"per_queue": 1}, {"queue": 0}, {"batch": 2}])
def test_a_hash_key_chooses_the_queue_alone(other: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="`hash_key` chooses the queue"):
        Send.model_validate({"topic": "orders", "count": 4, "hash_key": "A", **other})


def test_untagged_with_keys_and_properties() -> None:
    sent = sent_by({"count": 1, "keys": "mine", "properties": {"a": "1"}}).sent
    assert sent == [
        {"topic": "orders", "tag": None, "queue": None, "keys": ("mine",), "properties": {"a": "1"}}
    ]


@pytest.mark.parametrize(
    ("fields", "queue"), [({}, ("broker-a", 1)), ({"broker": "broker-b"}, ("broker-b", 1))]
)
def test_one_queue_of_one_broker(fields: dict[str, Any], queue: Any) -> None:
    assert {item["queue"] for item in sent_by({"count": 5, "queue": 1, **fields}).sent} == {queue}


def test_a_rate_is_not_lowered_by_what_a_sending_takes() -> None:
    assert sent_by({"count": 4, "every": "100ms"}).waits == [0, 93, 93, 93]


def test_where_sending_takes_longer_there_is_no_wait() -> None:
    assert sent_by({"count": 3, "every": "5ms"}).waits == [0, 0, 0]


def test_a_message_that_is_not_acknowledged_fails_the_step_after_the_others() -> None:
    context = Context(refuses=2)
    with pytest.raises(PreconditionNotMet, match=r"2 of 4 messages to orders .*: FLUSH_DISK_TIMEOUT"):
        sent_by({"count": 4}, context)
    assert len(context.sent) == 4


def test_where_a_sending_may_fail_the_run_goes_on_after_the_others() -> None:
    assert len(sent_by({"count": 4, "may_fail": True}, Context(refuses=4)).sent) == 4


def test_a_batch_is_one_sending_of_several_messages() -> None:
    sent = sent_by({"count": 4, "batch": 2, "tags": ["tagA", "tagB"]}).sent
    assert [(item["tags"], item["queue"]) for item in sent] == [(["tagA", "tagB"], None)] * 2


@pytest.mark.parametrize("delay", [{"delay_level": 3}, {"delay": "3s"}], ids=str)
def test_a_batch_with_a_delay_is_left_to_the_client_to_refuse(delay: dict[str, Any]) -> None:
    sent = sent_by({"count": 4, "batch": 4, **delay}).sent
    assert [(len(item["tags"]), len(item["how"])) for item in sent] == [(4, 1)]


@pytest.mark.parametrize(
    ("fields", "how"),
    [
        ({"delay_level": 3}, {"delay_level": 3}),
        ({"delay": "5s"}, {"delay_ms": 5000}),
        ({"oneway": True}, {"oneway": True}),
        ({"request": "3s"}, {"request_ms": 3000}),
        ({"oneway": True, "delay_level": 1}, {"delay_level": 1, "oneway": True}),
        (
            {"transaction": {"state": "rollback"}},
            {"transaction": {"state": "rollback", "checked": "unknown"}},
        ),
    ],
    ids=str,
)
def test_how_it_is_sent_is_shown(fields: dict[str, Any], how: dict[str, Any]) -> None:
    assert [item["how"] for item in sent_by({"count": 1, **fields}).sent] == [how]


@pytest.mark.parametrize(
    "fields",
    [
        {"batch": 2, "oneway": True},
        {"batch": 2, "oneway": True, "delay": "1s"},
        {"batch": 3},
        {"request": "3s", "oneway": True},
        {"batch": 2, "per_queue": 1},
        {"delay": "1s", "delay_level": 1},
        {"transaction": {"state": "commit"}, "queue": 0},
        {"transaction": {"state": "commit"}, "oneway": True},
    ],
    ids=str,
)
def test_what_can_not_be_together_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Send.model_validate({"topic": "orders", "count": 8 if "batch" in fields else 1, **fields})


@pytest.mark.parametrize(
    ("stated", "holds"),
    [
        ({"count": 2}, Holds.YES),
        ({"count": 1}, Holds.NO),
        ({"count": 1, "state": "commit"}, Holds.YES),
        ({"at_least": 1, "state": "rollback"}, Holds.NO),
    ],
    ids=str,
)
def test_the_questions_about_transactions_are_counted(stated: dict[str, Any], holds: Holds) -> None:
    scenario = scenario_of(scenario_text("start: a"))
    made = HistoryBuilder().begin(scenario)
    check = TransactionChecked(topic="orders", **stated)
    assert check.evaluate(RunView(scenario, made.events)).holds is Holds.UNKNOWN
    for state in ("unknown", "commit"):
        made.add("producer", "transaction-checked", key="orders-1", topic="orders", state=state)
    made.add("harness", "moment-observed", moment="end")
    assert check.evaluate(RunView(scenario, made.events)).holds is holds


def test_other_clients_are_left_out_with_what_they_can_not_send() -> None:
    text = scenario_text("start: [a, b, c]", "send: {topic: orders, count: 8, oneway: true}")
    assert parse_scenario(text, "x.yaml").why_not_on("4.9.4") is None
    by_python = parse_scenario(f"{text}producer: {{client: python}}\n", "x.yaml")
    assert "can't send with `oneway`" in str(by_python.why_not_on("4.9.4"))
    asking = parse_scenario(
        f"{text}producer: {{client: go}}\n".replace("oneway: true", "request: 3s"), "x.yaml"
    )
    assert "can't send with `request`" in str(asking.why_not_on("4.9.4"))
    timed = parse_scenario(text.replace("oneway: true", "delay: 5s"), "x.yaml")
    assert "`delay` is of clients >=5.0" in str(timed.why_not_on("4.9.4"))
    assert timed.why_not_on("5.5.0") is None


@pytest.mark.parametrize(
    ("client", "reason"),
    [
        ("java", None),
        ("go", None),
        ("python", "its producer can't send with `hash_key`"),
        ("grpc", "its `hash_key` is a message group, and orders has no `message.type: FIFO`"),
    ],
)
def test_a_hash_key_is_for_clients_that_hash_and_for_the_proxy_s_fifo_topics(
    client: str, reason: str | None
) -> None:
    text = scenario_text("start: [a, b]", "send: {topic: orders, count: 8, hash_key: A}")
    text += f"producer: {{client: {client}}}\n"
    found = parse_scenario(text, "x.yaml").why_not_on("5.5.0")
    assert (found is None) if reason is None else (reason in str(found))
    fifo = text.replace("queues: 4", "queues: 4, settings: {message.type: FIFO}")
    if client == "grpc":
        assert fifo != text
        assert parse_scenario(fifo, "x.yaml").why_not_on("5.5.0") is None


def test_a_newer_producer_sends_with_a_delay_to_brokers_that_do_not_know_it() -> None:
    text = scenario_text("start: [a, b]", "send: {topic: orders, count: 8, delay: 5s}")
    newer = parse_scenario(f"{text}producer: {{client: java@5.5.0}}\n", "x.yaml")
    assert newer.why_not_on("4.9.4") is None
    older = parse_scenario(f"{text}producer: {{client: java@4.9.4}}\n", "x.yaml")
    assert "`delay` is of clients" in str(older.why_not_on("5.5.0"))


def test_what_a_topic_config_adds_can_be_sent_to() -> None:
    grown = "topic-config: {topic: orders, set: {writeQueueNums: 8, readQueueNums: 8}}"
    sends = ("send: {topic: orders, count: 2, queue: 6}", "send: {topic: orders, count: 8, per_queue: 1}")
    scenario = parse_scenario(scenario_text("start: [a, b]", grown, *sends), "x.yaml")
    assert [topic.write_queues for topic in scenario.topic_in_time("orders")] == [4, 8]
    with pytest.raises(InvalidScenario, match="orders has the queues 0 to 7: there is no queue 8"):
        parse_scenario(
            scenario_text("start: [a, b]", grown, "send: {topic: orders, count: 2, queue: 8}"), "x.yaml"
        )
    with pytest.raises(InvalidScenario, match="there is no queue 6"):
        parse_scenario(scenario_text("start: [a, b]", sends[0]), "x.yaml")


def test_what_a_topic_config_adds_can_be_owned() -> None:
    grown = "topic-config: {topic: orders, set: {writeQueueNums: 8, readQueueNums: 8}}"
    text = scenario_text("start: [a, b]", grown, "send: {topic: orders, count: 2, queue: 6}")
    owns = "also: {{ownership: {{of: a, topic: orders, count: {}}}}}"
    parse_scenario(text.replace("also: []", owns.format(8)), "x.yaml")
    with pytest.raises(InvalidScenario, match="orders has 8 queues: nobody owns 9 of them"):
        parse_scenario(text.replace("also: []", owns.format(9)), "x.yaml")


def test_a_queue_that_is_not_there_at_its_moment_ends_the_run() -> None:
    send = Send.model_validate({"topic": "orders", "count": 2, "queue": 6})
    with pytest.raises(PreconditionNotMet, match="no queue 6 to which producers send at this moment"):
        send.run(cast(StepContext, Context()))


def test_a_body_comes_from_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "order.json").write_text('{"id": $number}', encoding="utf-8")
    send = Send.model_validate({"topic": "orders", "count": 1, "body": "order.json"})
    scenario = cast(Any, SimpleNamespace(file=str(tmp_path / "s.scenario.yaml")))
    assert send.body_text(scenario) == '{"id": $number}'
    (tmp_path / "order.json").write_bytes(b"\xff")
    with pytest.raises(EnvironmentNotReady, match="the messages' body can't be read"):
        send.body_text(scenario)
    (tmp_path / "order.json").unlink()
    with pytest.raises(EnvironmentNotReady, match="the messages' body doesn't exist"):
        send.body_text(scenario)


def test_a_body_tells_each_message_apart() -> None:
    text = '{"id": $number, "key": "$key", "price": "$5", "$keys": 1}'
    assert filled(text, "new-orders-17") == '{"id": 17, "key": "new-orders-17", "price": "$5", "$keys": 1}'
    assert filled(None, "orders-1") == "orders-1"


def test_messages_of_a_batch_take_their_bodies_from_a_file_too(tmp_path: Path) -> None:
    (tmp_path / "order.json").write_text('{"key": "$key"}')
    sent = sent_by({"count": 4, "batch": 2, "body": str(tmp_path / "order.json")}).sent
    assert [(len(item["tags"]), item["body"]) for item in sent] == [(2, '{"key": "$key"}')] * 2


def test_a_body_may_have_so_many_bytes_that_hardly_compress() -> None:
    bodies = [item["body"].encode() for item in sent_by({"count": 2, "body_bytes": 10_000}).sent]
    assert bodies[0] == bodies[1]
    assert len(bodies[0]) == 10_000
    assert 7_000 < len(zlib.compress(bodies[0])) < 8_000
    with pytest.raises(ValidationError, match="give one of `body` and `body_bytes`"):
        Send.model_validate({"topic": "orders", "count": 1, "body": "order.json", "body_bytes": 5})


def test_a_transaction_takes_as_long_as_it_says() -> None:
    said = {"state": "commit", "checked": "rollback", "takes": "8s"}
    (sent,) = sent_by({"count": 1, "transaction": said}).sent
    assert sent["how"] == {"transaction": {"state": "commit", "checked": "rollback", "takes_ms": 8000}}


def test_a_broker_onto_which_the_topic_has_grown() -> None:
    context = Context()
    context.scenario.brokers_of = lambda _topic: ("broker-a", "broker-b")
    sent = sent_by({"count": 1, "queue": 1, "broker": "broker-c"}, context).sent
    assert [item["queue"] for item in sent] == [("broker-c", 1)]
    with pytest.raises(PreconditionNotMet, match="orders has no queue 2"):
        sent_by({"count": 1, "queue": 2, "broker": "broker-b"}, context)
