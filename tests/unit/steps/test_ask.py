"""`ask`: the names in what is asked, and in what is answered; and consumers that live beside others."""

from __future__ import annotations

import re
import struct
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.remoting import Answer
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.diagnostics import InvalidScenario
from rocketchaos.harness.steps import ask as ask_step
from rocketchaos.harness.steps.ask import Ask

TEXT = """\
name: asked
title: raw requests
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
  b: {group: g, BESIDEsubscribe: {orders: tagA}}
steps:
  - start: [a, b]
  - ask: {as: ids, node: broker-a, code: 38, fields: {consumerGroup: NAME}}
anomaly: [{answer: {of: OF, code: 0}}]
healthy: [{delivered: {to: g, count: 0}}]
"""


def text(beside: str = "", name: str = "<g>", of: str = "ids") -> str:
    return TEXT.replace("BESIDE", beside).replace("NAME", name).replace("OF", of)


class Context:
    """As much of a run's context as the step needs."""

    def __init__(self) -> None:
        self.scenario = parse_scenario(text(), "s.yaml")
        self.names = Names("tok")
        self.consumers = {name: SimpleNamespace(client_id=f"{name}@tok") for name in ("a", "b")}
        message = SimpleNamespace(key="orders-1", broker="broker-a", msg_id="7F00", offset_msg_id="AC11")
        self.producer = SimpleNamespace(acknowledged=[message])
        self.down: dict[str, str] = {}
        self.servers = self
        self.written: dict[str, Any] = {}
        self.history = SimpleNamespace(append=lambda _node, _kind, data: self.written.update(data))

    def node(self, name: str) -> Any:
        return SimpleNamespace(address=self.remoting_address(name))

    def remoting_address(self, name: str) -> str:
        return f"{name}:1"


def test_names_are_real_in_the_request_and_the_scenarios_own_in_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []

    def ask(address: str, code: int, fields: Any, body: bytes, *, limit_s: float) -> Answer:
        seen.append((address, code, fields, body))
        return Answer(0, "of g-tok", {"topic": "orders-tok"}, b'["a@tok", "%RETRY%g-tok"]')

    monkeypatch.setattr(remoting, "ask", ask)
    context = Context()
    fields = {"group": "%RETRY%<g>", "client": "<a>"}
    step = Ask.model_validate(
        {"as": "p", "node": "broker-a", "code": 38, "fields": fields, "body": "<orders>"}
    )
    step.run(cast(Any, context))
    assert seen == [("broker-a:1", 38, {"group": "%RETRY%g-tok", "client": "a@tok"}, b"orders-tok")]
    assert context.written["text"] == '["a", "%RETRY%g"]'
    assert (context.written["remark"], context.written["fields"]) == ("of g", {"topic": "orders"})


def test_text_between_binary_numbers_can_be_read_in_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    # As QUERY_MESSAGE (12) answers: messages as they are stored.
    stored = b"\x00\x00\xda\xa3 \xa7\x08orders-1\x0aorders-tok\x00KEYS\x01A-1\x02"
    monkeypatch.setattr(remoting, "ask", lambda *_, **__: Answer(0, "", {}, stored))
    context = Context()
    Ask.model_validate({"as": "p", "node": "broker-a", "code": 12}).run(cast(Any, context))
    seen = context.written["text"]
    assert re.search("orders-1\\s?orders\ufffdKEYS\ufffdA-1", seen), seen
    assert not set("\x00\x01\x02\x08") & set(seen)


@pytest.mark.parametrize(
    ("within", "young_answers", "code"),
    [({}, 2, 1), ({"within": "10s"}, 2, 0), ({"within": "20ms"}, 1000, 1)],
)
def test_a_young_broker_is_asked_again_within_a_limit(
    monkeypatch: pytest.MonkeyPatch, within: dict[str, str], young_answers: int, code: int
) -> None:
    young = Answer(1, "java.util.NoSuchElementException", {}, b"")
    answers = iter([young] * young_answers + [Answer(0, "", {}, b"{}")])
    monkeypatch.setattr(remoting, "ask", lambda *_, **__: next(answers))
    monkeypatch.setattr(ask_step, "_ASK_EVERY_S", 0.002)
    context = Context()
    Ask.model_validate({"as": "p", "node": "broker-a", "code": 28, **within}).run(cast(Any, context))
    assert context.written["code"] == code


def test_a_topic_with_capitals_has_its_real_name_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(remoting, "ask", lambda *args, **_: seen.append(args[2]) or Answer(0, "", {}, b""))
    context = Context()
    context.scenario = parse_scenario(
        TEXT.replace("orders", "Orders_1")
        .replace("BESIDE", "")
        .replace("NAME", "<Orders_1>")
        .replace("OF", "ids"),
        "s.yaml",
    )
    fields = {"topic": "%RETRY%<g>", "other": "<Orders_1>"}
    Ask.model_validate({"as": "p", "node": "broker-a", "code": 12, "fields": fields}).run(cast(Any, context))
    assert seen == [{"topic": "%RETRY%g-tok", "other": "Orders_1-tok"}]


def test_a_server_that_is_down_or_silent_breaks_a_precondition(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: Any, **__: Any) -> Answer:
        raise TimeoutError("timed out")

    monkeypatch.setattr(remoting, "ask", ask)
    context, step = Context(), Ask.model_validate({"as": "p", "node": "broker-a", "code": 38})
    with pytest.raises(PreconditionNotMet, match="broker-a doesn't answer: timed out"):
        step.run(cast(Any, context))
    context.down["broker-a"] = "paused"
    with pytest.raises(PreconditionNotMet, match="broker-a is paused"):
        step.run(cast(Any, context))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "<h>"}, "<h>: the scenario has no topic, group, consumer, node or message of this name"),
        ({"of": "idz"}, "there is no request `idz`"),
        ({"beside": "beside: c, "}, "b is `beside` c: no consumer above it has that name"),
        ({"beside": "beside: a, process: own, "}, "can't be `beside` another one"),
    ],
)
def test_wrong_names_are_refused(changes: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidScenario, match=message.replace("(", r"\(")):
        parse_scenario(text(**changes), "s.yaml")


def test_a_topic_that_a_request_deletes_may_be_missing_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remoting, "ask", lambda *_, **__: Answer(0, "", {}, b""))
    context = Context()
    deleted: list[str] = []
    cast(Any, context).topic_deleted = deleted.append
    fields = {"topic": "<orders>"}
    for code in (202, 215):
        made = Ask.model_validate({"as": "x", "node": "broker-a", "code": code, "fields": fields})
        made.run(cast(Any, context))
    assert deleted == ["orders"]


def test_a_message_has_its_ids_where_a_broker_has_acknowledged_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def ask(_address: str, _code: int, fields: Any, _body: bytes, *, limit_s: float) -> Answer:
        seen.append(fields)
        return Answer(0, "", {}, b"")

    monkeypatch.setattr(remoting, "ask", ask)
    step = {
        "as": "p",
        "node": "broker-a",
        "code": 309,
        "fields": {"msgId": "<orders-1>", "at": "<orders-1.offset>"},
    }
    Ask.model_validate(step).run(cast(Any, Context()))
    assert seen == [{"msgId": "7F00", "at": "AC11"}]
    other = Ask.model_validate({**step, "fields": {"msgId": "<orders-2>"}})
    with pytest.raises(PreconditionNotMet, match="no broker has acknowledged orders-2"):
        other.run(cast(Any, Context()))


def _stored(at_ms: int) -> bytes:
    """A message as VIEW_MESSAGE_BY_ID brings it: its size, and what stands before its body."""
    place = struct.pack(">iiiiqqi", -626843481, 0, 0, 0, 5, 1024, 0)
    times = struct.pack(">q8sq8s", at_ms - 3, b"\x7f\0\0\1\0\0\x30\0", at_ms, b"\x7f\0\0\1\0\0\x2a\x9f")
    rest = struct.pack(">iqi", 0, 0, 0) + b"\x06orders" + struct.pack(">H", 0)
    whole = place + times + rest
    return struct.pack(">i", len(whole) + 4) + whole


def test_a_message_has_the_time_at_which_its_broker_stored_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(remoting, "ask", lambda *args, **_: seen.append(args[2]) or Answer(0, "", {}, b""))
    viewed: list[Any] = []

    def raw(address: str, code: int, fields: Any, *_: Any) -> Answer:
        viewed.append((address, code, fields))
        return Answer(0, "", {}, _stored(1_700_000_000_123))

    context = cast(Any, Context())
    context.producer.acknowledged[0].offset_msg_id = "7F00000100002A9F0000000000000400"
    context.admin = SimpleNamespace(raw=raw)
    step = {"as": "p", "node": "broker-a", "code": 29, "fields": {"timestamp": "<orders-1.stored>"}}
    Ask.model_validate(step).run(context)
    assert seen == [{"timestamp": "1700000000123"}]
    assert viewed == [("broker-a:1", 33, {"offset": "1024"})]


def test_a_time_that_its_broker_does_not_tell_breaks_a_precondition() -> None:
    context = cast(Any, Context())
    context.admin = SimpleNamespace(raw=lambda *_: Answer(1, "can not find message", {}, b""))
    step = {"as": "p", "node": "broker-a", "code": 29, "fields": {"timestamp": "<orders-1.stored>"}}
    with pytest.raises(PreconditionNotMet, match="broker-a doesn't tell when it stored orders-1"):
        Ask.model_validate(step).run(context)


def test_a_message_that_no_step_sends_is_a_mistake() -> None:
    sends = text(name="<orders-1>").replace(
        "  - ask", "  - send: {topic: orders, tag: tagA, count: 1}\n  - ask"
    )
    parse_scenario(sends, "s.yaml")
    parse_scenario(sends.replace("<orders-1>", "<orders-1.stored>"), "s.yaml")
    with pytest.raises(InvalidScenario, match="<orders-2>: the scenario has no topic"):
        parse_scenario(sends.replace("<orders-1>", "<orders-2>"), "s.yaml")
