"""Scenarios with programs of the user's."""

from __future__ import annotations

import pytest

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.model import Scenario

TEXT = """\
name: own
title: two listeners of one program
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, subscribe: {orders: tagA}, app: {jar: shop.jar}}
  b: {group: g, subscribe: {orders: tagB}, beside: a}
  c: {group: g, subscribe: {orders: tagB}, beside: b}
  d: {group: g, subscribe: {orders: tagA}}
steps:
  - start: [a, b, c, d]
  - send: {topic: orders, tag: tagA, count: 1}
anomaly: {delivered: {to: g, count: 0}}
healthy: {delivered: {to: g, count: 1}}
"""


def parsed(text: str = TEXT) -> Scenario:
    return parse_scenario(text, "own.scenario.yaml")


def test_who_is_beside_a_program_is_in_it() -> None:
    scenario = parsed()
    kinds = {name: consumer.choice.kind.name for name, consumer in scenario.consumers.items()}
    assert kinds == {"a": "app", "b": "app", "c": "app", "d": "java"}
    assert scenario.leaders == {"a": "a", "b": "a", "c": "a"}
    assert scenario.client_label == "app+java"


OF_ISSUE = """\
name: own
title: a consumer that is called like its group
topics: {orders: {queues: 4}}
consumers:
  billing: {group: billing, subscribe: {orders: paid}, app: {jar: target/billing.jar}}
  shop: {group: shop, subscribe: {orders: paid}, app: {main: shop.Main, classpath: lib/*}}
steps:
  - start: [billing, shop]
  - settle: {ownership: billing, within: 60s}
  - send: {topic: orders, tag: paid, count: 4, per_queue: 1}
anomaly: {undelivered: {group: billing, at_least: 1}}
healthy: [{delivered: {to: billing, count: 4}}, {delivered: {to: shop, count: 4}}]
"""


def test_the_only_member_of_a_group_may_be_called_like_it() -> None:
    scenario = parsed(OF_ISSUE)
    assert scenario.members("billing") == ("billing",)


def test_with_further_members_its_name_is_refused_where_it_may_mean_both() -> None:
    audit = "  audit: {group: billing, subscribe: {orders: paid}, app: {jar: audit.jar}}\n"
    both = OF_ISSUE.replace("steps:", f"{audit}steps:").replace("[billing, shop]", "[billing, audit, shop]")
    with pytest.raises(InvalidScenario) as refused:
        parsed(both)
    (problem,) = refused.value.diagnostics
    assert problem.message == (
        "`billing` is a consumer, and also a group with the members billing and audit: to say which one is meant "
        "here, give the consumer another name, for example `billing-1`"
    )
    assert problem.line == 1 + both.splitlines().index(
        "healthy: [{delivered: {to: billing, count: 4}}, {delivered: {to: shop, count: 4}}]"
    )
    # What takes only groups, or only consumers, is clear.
    parsed(both.replace("{delivered: {to: billing, count: 4}}, ", ""))


def test_a_consumer_called_like_the_group_of_others() -> None:
    other = OF_ISSUE.replace("shop: {group: shop", "shop: {group: billing").replace(
        "billing: {group: billing", "billing: {group: shop"
    )
    with pytest.raises(
        InvalidScenario, match="`billing` is a consumer, and also a group with the members shop: "
    ):
        parsed(other)


def test_names_are_as_they_stand_on_a_cluster_of_the_run_s_own() -> None:
    assert parsed().has_programs
    assert parsed().needs_own_cluster
    without = TEXT.replace(", app: {jar: shop.jar}", "")
    assert not parsed(without).needs_own_cluster
    assert Names("token", as_they_are=True).real("orders") == "orders"
    assert Names("token").real("orders") == "orders-token"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "title: two",
            "workers: containers\ntitle: two",
            "a `jar` or `command` of your own runs on this host",
        ),
        (
            "  - start: [a, b, c, d]",
            "  - start: [a, b, c, d]\n  - stop: a",
            "name them all, `stop: .a, b, c.`",
        ),
        ("beside: a}", "beside: a, client: java}", "which is another client: app"),
    ],
)
def test_what_can_not_be_is_reported(old: str, new: str, said: str) -> None:
    with pytest.raises(UsageProblem, match=said):
        parsed(TEXT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("app: {jar: shop.jar}", "jar: shop.jar", "`jar` is a key of `app`: write it there, `app: {jar: …}`"),
        ("shop.jar}}", "shop.jar}, args: [x]}", "`args` is a key of `app`: write it there, `app: {args: …}`"),
        ("shop.jar}}", "shop.jar}, arg: [x]}", "unknown key `arg`: `app` has a key `args`"),
    ],
)
def test_a_key_of_app_in_the_wrong_place_is_reported(old: str, new: str, said: str) -> None:
    with pytest.raises(InvalidScenario) as told:
        parsed(TEXT.replace(old, new))
    assert said in str(told.value)


IMAGE = """\
name: own
title: a container beside a program
topics: {orders: {queues: 4}}
consumers:
  a:
    group: g
    subscribe: {orders: tagA}
    app: {image: "registry.example.org/shop:1.4", sees: {log: '(?P<key>.)'}}
  b: {group: g, subscribe: {orders: tagA}}
steps:
  - start: [a, b]
  - partition: {between: a, and: broker-a}
  - heal: all
anomaly: {delivered: {to: g, count: 0}}
healthy: {delivered: {to: g, count: 1}}
"""


def test_an_image_needs_containers_and_has_a_network_of_its_own() -> None:
    scenario = parsed(IMAGE)
    assert scenario.client_label == "image+java"
    assert {"container workers", "partition"} <= scenario.required_capabilities
    assert (scenario.in_container("a"), scenario.in_container("b")) == (True, False)
    inside = parsed(IMAGE.replace("title:", "workers: containers\ntitle:"))
    assert inside.in_container("b")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("between: a,", "between: b,", "`b` runs on this host, whose network all share"),
        (
            "partition: {between: a, and: broker-a}",
            "stall: a",
            "a would be in a container, whose processes can't be stalled from here: pause it",
        ),
        ("tagA}}\nsteps", "tagA}, beside: a}\nsteps", "which doesn't distinguish its consumers"),
    ],
)
def test_what_an_image_can_not_do_is_reported(old: str, new: str, said: str) -> None:
    with pytest.raises(UsageProblem, match=said):
        parsed(IMAGE.replace(old, new))


def test_the_topic_into_which_a_program_writes_is_one_of_the_scenario() -> None:
    text = IMAGE.replace("sees: {log: '(?P<key>.)'}", "sees: {topic: handeld}")
    with pytest.raises(UsageProblem, match="there is no topic `handeld`") as error:
        parsed(text.replace("{orders: {queues: 4}}", "{orders: {queues: 4}, handled: {queues: 1}}"))
    assert "did you mean `handled`?" in str(error.value)


def test_an_expectation_of_a_program_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidScenario, match="`command` can never match: the clients of this scenario are"):
        parsed(TEXT + "expected: {command: reproduced}\n")
    assert parsed(TEXT + "expected: {app+python: reproduced, app+java: not-reproduced}\n").has_programs


def test_what_a_program_may_send_is_not_counted_and_the_message_says_who_sees_it() -> None:
    events = TEXT.replace("queues: 4}}", "queues: 4}, events: {queues: 1}}")
    more = "\n  - settle: {delivered: d, topic: events, count: 1, within: 9s}\nanomaly:"
    with pytest.raises(InvalidScenario, match=r"the steps send 0 \(messages of your own program don't count"):
        parsed(events.replace("\nanomaly:", more))
    assert parsed().sends_unseen
