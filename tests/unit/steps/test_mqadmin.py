"""`mqadmin`: which names its command takes, and what is kept of its output."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.servers import MqadminRan
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.diagnostics import InvalidScenario
from rocketchaos.harness.steps.mqadmin import Mqadmin

TEXT = """\
name: tools
title: tools
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}}
steps:
  - start: a
  - send: {topic: orders, count: 1}
  - mqadmin: {as: progress, command: COMMAND}
anomaly: [{mqadmin: {of: OF, has: orders}}]
healthy: [{delivered: {to: g, count: 0}}]
"""


def text(command: str = "consumerProgress -g <g>", of: str = "progress") -> str:
    return TEXT.replace("COMMAND", command).replace("OF", of)


class Context:
    """As much of a run's context as the step needs."""

    def __init__(self, output: str, exit_code: int | None = 0) -> None:
        self.scenario = parse_scenario(text(), "s.yaml")
        self.names = Names("tok")
        self.consumers = {"a": SimpleNamespace(client_id="a@tok")}
        self.producer = SimpleNamespace(acknowledged=[])
        self.admin = self
        self.servers = self
        self.deleted: list[str] = []
        self.ran: list[tuple[list[str], float]] = []
        self.accounts: list[str | None] = []
        self.written: list[MqadminRan] = []
        self.output = output
        self.exit_code = exit_code
        self.history = SimpleNamespace(append=lambda _node, body: self.written.append(body))

    def mqadmin(self, arguments: list[str], limit_s: float, account: str | None) -> dict[str, Any]:
        self.ran.append((arguments, limit_s))
        self.accounts.append(account)
        return {"exit_code": self.exit_code, "output": self.output, "seconds": 1.5}

    def node(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(address=self.remoting_address(name))

    def remoting_address(self, name: str) -> str:
        return {"broker-a": "10.0.0.7:10911", "nameserver": "10.0.0.7:9876"}[name]

    def topic_deleted(self, topic: str) -> None:
        self.deleted.append(topic)


def run(command: str, output: str = "") -> Context:
    context = Context(output)
    step(command).run(cast(Any, context))
    return context


def step(command: str, **more: Any) -> Mqadmin:
    return Mqadmin.model_validate({"as": "m", "command": command, **more})


def test_names_are_real_in_the_command_and_the_scenarios_own_in_the_output() -> None:
    context = run("consumerProgress -g '<g>' -x 'two words' -c <a>", "%RETRY%g-tok of a@tok: 3")
    assert context.ran == [(["consumerProgress", "-g", "g-tok", "-x", "two words", "-c", "a@tok"], 60.0)]
    (body,) = context.written
    assert body.output == "%RETRY%g of a: 3"
    assert body.command == ("consumerProgress", "-g", "<g>", "-x", "two words", "-c", "<a>")


def test_a_topic_that_it_deletes_has_no_queues_any_more() -> None:
    assert run("deleteTopic -c rocketchaos -t <orders>").deleted == ["orders"]
    assert run("topicStatus -t <orders>").deleted == []


def test_a_command_that_does_not_end_is_a_reason_and_its_output_is_kept() -> None:
    late = Context("one\ntwo\n", exit_code=None)
    with pytest.raises(PreconditionNotMet, match="clusterList had not ended after 3 s; its last line: 'two'"):
        step("clusterList -i 1", within="3s").run(cast(Any, late))
    assert [body.output for body in late.written] == ["one\ntwo\n"]
    goes_on = Context("one\n", exit_code=None)
    step("clusterList -i 1", within="3s", goes_on=True).run(cast(Any, goes_on))
    assert [body.exit_code for body in goes_on.written] == [None]


def test_a_message_that_is_not_there_is_no_command() -> None:
    with pytest.raises(PreconditionNotMet, match="mqadmin: no broker has acknowledged orders-1"):
        run("queryMsgById -i <orders-1.offset>")


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (text("consumerProgress -g <h>"), "<h>: the scenario has no topic"),
        (text("queryMsgById -i <orders-9>"), "<orders-9>: the scenario has no topic"),
        (text("consumerProgress -n 127.0.0.1:9876"), "leave `-n` out"),
        (text("'consumerProgress \"-g'"), "each quote needs a second one"),
        (text("' '"), "say which command"),
        (text(of="other"), "there is no command of mqadmin `other`"),
    ],
)
def test_what_cannot_be_run_is_one_message(document: str, words: str) -> None:
    with pytest.raises(InvalidScenario) as found:
        parse_scenario(document, "s.yaml")
    assert words in str(found.value)


def test_its_name_is_given_once() -> None:
    twice = text().replace("anomaly", "  - mqadmin: {as: progress, command: clusterList}\nanomaly")
    with pytest.raises(InvalidScenario, match="a command of mqadmin"):
        parse_scenario(twice, "s.yaml")


def test_the_tools_sign_as_an_account_of_the_cluster() -> None:
    context = Context("")
    step("clusterList", account="admin-account").run(cast(Any, context))
    assert (context.accounts, run("clusterList").accounts) == (["admin-account"], [None])
    guarded = text().replace(
        "title: tools", "title: tools\ncluster: {accounts: {admin-account: {admin: true}}}"
    )
    (doubt,) = parse_scenario(guarded, "s.yaml").steps[2].doubts(parse_scenario(guarded, "s.yaml"))
    assert "write `account: admin-account`" in doubt
    signed = guarded.replace("<g>}", "<g>, account: admin-account}")
    assert not list(parse_scenario(signed, "s.yaml").steps[2].doubts(parse_scenario(signed, "s.yaml")))
    with pytest.raises(InvalidScenario, match=r"no account `nobody-account`.*`admin-account`"):
        parse_scenario(signed.replace("account: admin-", "account: nobody-"), "s.yaml")
    with pytest.raises(InvalidScenario, match="there is no account `admin-account`"):
        parse_scenario(text().replace("<g>}", "<g>, account: admin-account}"), "s.yaml")


def test_a_node_in_angle_brackets_is_its_address() -> None:
    assert run("brokerStatus -b <broker-a>").ran[0][0] == ["brokerStatus", "-b", "10.0.0.7:10911"]
    assert parse_scenario(text("brokerStatus -b <broker-a>"), "s.yaml")
    with pytest.raises(InvalidScenario, match="<broker-b>: the scenario has no"):
        parse_scenario(text("brokerStatus -b <broker-b>"), "s.yaml")


@pytest.mark.parametrize("key", ["has", "lacks"])
def test_an_expression_names_a_message_that_is_sent_by_its_id(key: str) -> None:
    def doubts(expression: str) -> list[str]:
        scenario = parse_scenario(text().replace("has: orders", f"{key}: '{expression}'"), "s.yaml")
        return list(scenario.anomaly[0].doubts(scenario))

    assert not doubts("^<orders-1.offset> .*<orders-1>")
    assert not doubts("to <orders> OK, <bills-1>")
    (none,) = doubts("<orders-9>")
    assert none.startswith("<orders-9>: the scenario sends no message of this name")
    (time,) = doubts("<orders-1.stored>")
    assert time.startswith("<orders-1.stored> is the time of a message in steps alone")
