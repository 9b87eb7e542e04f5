"""A consumer that is a program of the user's."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.scenario import parse_scenario
from tests.unit.history_builder import scenario_of

SEES = {"log": r"handled (?P<key>\S+)"}


def consumer(**fields: Any) -> Consumer:
    return Consumer.model_validate({"group": "g", "subscribe": {"orders": "tagA"}, **fields})


def test_a_number_alone_names_no_message_of_a_program_whose_topics_nothing_says() -> None:
    app = {"command": ["./a"], "sees": {"log": r"(?P<number>\d+)"}}
    with pytest.raises(ValidationError, match="`subscribe` names none"):
        Consumer.model_validate({"group": "g", "app": app})
    assert Consumer.model_validate({"group": "g", "app": app, "subscribe": {"orders": "*"}}).subscribe


def test_only_a_program_may_leave_out_what_it_subscribes_to() -> None:
    assert Consumer.model_validate({"group": "g", "app": {"jar": "a.jar"}}).subscribe == {}
    with pytest.raises(ValidationError, match="`subscribe` is missing: write"):
        Consumer.model_validate({"group": "g"})


def test_programs_of_one_group_need_nothing_but_their_group() -> None:
    scenario = parse_scenario(
        r"""
name: programs
title: three programs of one group
topics: {orders: {queues: 4}}
consumers:
  billing: {group: billing, app: {jar: target/billing.jar, args: [--spring.profiles.active=test]}}
  audit:   {group: billing, app: {command: [./audit, $nameserver], sees: {log: 'handled (?P<key>\S+)'}}}
  shop:    {group: billing, app: {image: registry.example.org/shop:1.4, env: {NAMESRV: $nameserver}}}
steps:
  - start: [billing, audit, shop]
  - send: {topic: orders, tag: paid, count: 8}
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: audit, at_least: 1}}]
""",
        "programs.scenario.yaml",
    )
    assert [spec.choice.kind.name for spec in scenario.consumers.values()] == ["app", "command", "image"]


def test_placeholders_stand_for_addresses_wherever_the_program_gets_a_text() -> None:
    app = App.model_validate(
        {
            "jar": "a.jar",
            "args": ["--namesrv=$nameserver", 8080, True],
            "jvm_args": ["-Da=$nameserver"],
            "properties": {"b": "$nameserver"},
            "env": {"C": "tcp://$nameserver/", "PORT": 8080},
        }
    )
    told = app.placed({"$nameserver": "127.0.0.1:9876"})
    assert told.args == ("--namesrv=127.0.0.1:9876", "8080", "true")
    assert told.jvm_args == ("-Da=127.0.0.1:9876",)
    assert told.properties == {"b": "127.0.0.1:9876"}
    assert told.env == {"C": "tcp://127.0.0.1:9876/", "PORT": "8080"}
    assert told.jar == "a.jar"


@pytest.mark.parametrize(
    "app",
    [
        {"jar": "a.jar", "env": {"ENDPOINT": "$proxy"}},
        {"jar": "a.jar", "properties": {"endpoint": "http://$proxy/"}},
        {"command": ["node", "shop.js", "$proxy"], "sees": SEES},
        {"image": "shop:1", "args": ["--proxy=$proxy"], "sees": SEES},
    ],
)
def test_a_program_that_gets_the_proxy_s_address_needs_a_proxy(app: dict[str, Any]) -> None:
    own = consumer(app=app)
    assert own.needs_proxy
    assert "needs the proxy of RocketMQ 5" in (own.why_not_on("4.9.4") or "")
    assert own.why_not_on("5.3.3") is None
    assert own.app is not None
    assert "127.0.0.1:8081" in str(own.app.placed({"$proxy": "127.0.0.1:8081"}))


def test_its_grpc_client_finds_servers_that_speak_tls_as_it_does_by_default() -> None:
    text = """\
name: own
title: a program with a gRPC client
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, subscribe: {orders: tagA}, app: {command: [./a, PLACE], sees: {log: '(?P<key>.)'}}}
steps: [{start: a}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""
    assert scenario_of(text.replace("PLACE", "$proxy")).cluster_needs.tls
    assert not scenario_of(text.replace("PLACE", "$nameserver")).cluster_needs.tls


def test_a_program_without_it_needs_none() -> None:
    assert not consumer(app={"jar": "a.jar", "args": ["$nameserver"]}).needs_proxy


def test_a_program_is_a_client_of_its_own() -> None:
    own = consumer(app={"jar": "a.jar"})
    assert own.choice.kind.users_program
    assert own.needs_own_process
    assert not own.traits.counts_pulls


def test_a_class_is_a_program_of_the_same_kind_as_a_jar() -> None:
    own = consumer(app={"main": "shop.Main", "classpath": ["classes", "lib/*"], "args": "$nameserver"})
    assert own.choice.kind.name == "app"
    assert own.app is not None
    assert own.app.has_hook
    assert own.traits.seen_by == consumer(app={"jar": "a.jar"}).traits.seen_by


def test_a_command_is_seen_by_what_it_prints() -> None:
    own = consumer(
        app={
            "command": ["./audit", "$nameserver", 8080],
            "sees": SEES,
            "env": {"A": "$files/a"},
            "files": {"a": "b"},
        }
    )
    assert own.choice.kind.users_program
    assert own.choice.kind.begins_at_start
    assert own.traits.seen_by == "lines"
    assert own.app is not None
    placed = own.app.placed({"$nameserver": "127.0.0.1:9876", "$files": "/run/files"})
    assert placed.command == ("./audit", "127.0.0.1:9876", "8080")
    assert placed.env == {"A": "/run/files/a"}


def test_an_image_is_seen_by_what_it_prints() -> None:
    image = {
        "image": "registry.example.org/shop:1.4",
        "args": ["--ns=$nameserver"],
        "env": {"A": "$files/a"},
        "files": {"a": "b"},
    }
    own = consumer(app={**image, "sees": SEES})
    assert own.choice.kind.name == "image"
    assert own.choice.kind.begins_at_start
    assert own.traits.seen_by == "lines"
    assert own.app is not None
    placed = own.app.placed({"$nameserver": "198.18.0.2:9876", "$files": "/rocketchaos/files"})
    assert placed.args == ("--ns=198.18.0.2:9876",)
    assert placed.env == {"A": "/rocketchaos/files/a"}


@pytest.mark.parametrize(
    ("sees", "where", "text", "keys"),
    [
        ({"topic": "handled"}, "keys", "orders-1 A17", ["orders-1", "A17"]),
        ({"http": "http://$host:1/h"}, "body", '["orders-1", "A17"]', ["orders-1", "A17"]),
        ({"topic": "handled", "keys": r"done-(?P<key>\S+)"}, "keys", "done-orders-1", ["orders-1"]),
        ({"topic": "handled", "body": '"id": "(?P<key>[^"]+)"'}, "body", '{"id": "orders-1"}', ["orders-1"]),
    ],
)
def test_a_program_may_be_seen_by_what_it_writes_or_answers(
    sees: dict[str, str], where: str, text: str, keys: list[str]
) -> None:
    own = consumer(app={"command": ["./audit"], "sees": sees})
    assert own.traits.seen_by == next(iter(sees))
    assert own.app is not None
    assert own.app.sees is not None
    assert own.app.sees.where == where
    assert [found["key"] for found in re.finditer(own.app.sees.pattern, text)] == keys


@pytest.mark.parametrize("app", [{"command": ["./audit"]}, {"image": "shop:1"}], ids=str)
def test_a_program_that_shows_nothing_is_seen_by_its_group_s_offsets(app: dict[str, object]) -> None:
    assert consumer(app=app).traits.seen_by == "offsets"


def test_a_program_seen_by_its_trace_gets_brokers_with_a_trace_topic() -> None:
    text = """\
name: own
title: its client writes a trace
topics: {orders: {queues: 1}}
consumers: {a: {group: g, subscribe: {orders: tagA}, app: {command: [./a], sees: {SEES}}}}
steps: [{start: a}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""
    traced = scenario_of(text.replace("SEES", "trace: true"))
    assert traced.consumers["a"].traits.seen_by == "trace"
    assert traced.cluster_needs.broker["traceTopicEnable"] is True
    own = scenario_of(text.replace("SEES", "trace: true") + "cluster: {broker: {traceTopicEnable: false}}\n")
    assert own.cluster_needs.broker["traceTopicEnable"] is False
    assert (
        "traceTopicEnable" not in scenario_of(text.replace("SEES", "http: 'http://x/'")).cluster_needs.broker
    )


def test_other_programs_may_have_dollars_of_their_own() -> None:
    own = consumer(app={"command": ["sh", "-c", "echo $HOME $x $(date)"], "sees": SEES})
    assert own.app is not None
    assert own.app.placed({"$nameserver": "n:1"}).command == ("sh", "-c", "echo $HOME $x $(date)")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"app": {"jar": "a.jar"}, "client": "java"}, "`app` is a client itself: leave out `client: java`"),
        ({"client": "app"}, "`app` says which"),
        ({"app": {"jar": "a.jar"}, "behaviour": "block"}, "the program decides on this itself"),
        ({"app": {"jar": "a.jar"}, "listener": "orderly"}, "leave out `listener`"),
        ({"app": {"jar": "a.jar"}, "api": "pop"}, "has no `api: pop`"),
        ({"app": {"jar": "a.jar"}, "beside": "b"}, "`beside` says which program it is in"),
        ({"app": {"jar": ""}}, "at least 1 character"),
        ({"app": {}}, "say which program: one of `jar: "),
        ({"app": {"jar": "a.jar", "command": ["./a"], "sees": SEES}}, "say which program"),
        ({"app": {"jar": "a.jar", "sees": SEES}}, "leave out `sees`"),
        ({"app": {"main": "shop.Main"}}, "`main` and `classpath` need each other"),
        ({"app": {"jar": "a.jar", "classpath": "lib/*"}}, "`main` and `classpath` need each other"),
        ({"app": {"main": "shop.Main", "jar": "a.jar", "classpath": "lib/*"}}, "say which program"),
        ({"app": {"main": "shop Main", "classpath": "lib/*"}}, "main"),
        ({"app": {"main": "shop.Main", "classpath": "lib/*", "sees": SEES}}, "a `main` is seen by"),
        ({"app": {"command": [], "sees": SEES}}, "at least 1 item"),
        ({"app": {"command": ["./a"], "sees": SEES, "args": ["b"]}}, "`args` is for a `jar`"),
        ({"app": {"command": ["./a"], "sees": {"log": "handled ("}}}, "is no regular expression"),
        ({"app": {"command": ["./a"], "sees": {"log": "handled .*"}}}, "has no named group that says which"),
        ({"app": {"command": ["./a"], "sees": {"log": "(?P<tag>a)"}}}, "has no named group that says which"),
        (
            {"app": {"command": ["./a"], "sees": {"log": "(?P<key>a) (?P<what>b)"}}},
            "the group `what` of `log`",
        ),
        ({"app": {"command": ["./a", "$namesrv"], "sees": SEES}}, "did you mean `\\$nameserver`"),
        ({"app": {"command": ["./a"], "sees": SEES}, "client": "app"}, "leave out `client: app`"),
        ({"app": {"command": ["./a"], "sees": SEES, "ready": {}}}, "say `members`, `port` or `log`"),
        ({"app": {"command": ["./a"], "sees": SEES, "ready": {"log": "["}}}, "is no regular expression"),
        ({"app": {"jar": "a.jar", "files": {"../a": "b"}}}, "files"),
        (
            {"app": {"jar": "a.jar", "args": ["$files/a"]}},
            "`\\$files` is the folder of its `files`, and it has none",
        ),
        ({"app": {"command": ["./a"], "sees": {}}}, "say one of `log"),
        ({"app": {"command": ["./a"], "sees": {"trace": True, "topic": "t"}}}, "say one of `log"),
        ({"app": {"command": ["./a"], "sees": {"trace": False}}}, "Input should be True"),
        (
            {"app": {"command": ["./a"], "sees": {"trace": True, "body": "(?P<key>x)"}}},
            "`body` is of what it writes",
        ),
        ({"app": {"command": ["./a"], "sees": {**SEES, "topic": "handled"}}}, "say one of `log"),
        (
            {"app": {"command": ["./a"], "sees": {**SEES, "keys": "(?P<key>a)"}}},
            "are of what it writes into a",
        ),
        (
            {"app": {"command": ["./a"], "sees": {**SEES, "body": "(?P<key>a)"}}},
            "`body` is of what it writes",
        ),
        ({"app": {"command": ["./a"], "sees": {"http": "ftp://x/"}}}, "http"),
        ({"app": {"command": ["./a"], "sees": {"http": "http://x/", "topic": "t"}}}, "say one of `log"),
        ({"app": {"command": ["./a"], "sees": {"http": "http://x/", "body": "a"}}}, "`body: a` has no named"),
        (
            {"app": {"command": ["./a"], "sees": {"topic": "h", "keys": "(?P<key>a)", "body": "(?P<key>a)"}}},
            "both say which message",
        ),
        (
            {"app": {"command": ["./a"], "sees": {"topic": "h", "body": "order"}}},
            "`body: order` has no named",
        ),
        (
            {"app": {"command": ["./a"], "sees": {"topic": "h", "keys": "(?P<key>a)(?P<who>b)"}}},
            "the group `who` of `keys`",
        ),
        ({"app": {"image": "shop:1.4", "command": ["./a"], "sees": SEES}}, "of an `image` are its `args`"),
        (
            {"app": {"image": "shop:1.4", "sees": SEES, "jvm_args": ["-Xmx1g"]}},
            "`jvm_args` is for a `jar` or `main`: write it into `args` or `env`",
        ),
        ({"app": {"image": "shop 1.4", "sees": SEES}}, "image"),
        ({"client": "image"}, "`app` says which: `app: {image: "),
        ({"client": "command"}, "`app` says which: `app: {command: "),
        (
            {
                "app": {"command": ["./a"], "sees": {"log": r"(?P<number>\\d+)"}},
                "subscribe": {"orders": "*", "refunds": "*"},
            },
            "names several",
        ),
        ({"app": {"jar": "a.jar", "argv": []}}, "argv"),
    ],
)
def test_what_can_not_be_meant_is_reported(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        consumer(**fields)
