"""How a consumer consumes: as its start tells it, and from the scenario where that tells nothing."""

from __future__ import annotations

import pytest

from rocketchaos.assertions.delivered import Delivered
from rocketchaos.assertions.offsets import Offsets
from rocketchaos.assertions.ownership import Ownership
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from tests.unit.history_builder import HistoryBuilder, scenario_of

ONE = """\
name: one
title: one consumer
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, CLIENT, subscribe: {orders: tagA}}
steps: [{start: a}]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""


class Told:
    def __init__(self, client: str = "client: java", **facts: object) -> None:
        self.scenario = scenario_of(ONE.replace("CLIENT", client))
        self.made = HistoryBuilder().begin(self.scenario)
        self.made.start(self.scenario, "a", **facts)

    @property
    def view(self) -> RunView:
        return RunView(self.scenario, self.made.events)


@pytest.mark.parametrize(
    ("client", "filters_by"),
    [
        ("api: push", "stored"),
        ("api: lite-pull", "own"),
        ("post_subscription_when_pull: true", "own"),
        ("client: python", "own"),
    ],
)
def test_older_histories_leave_it_to_the_scenario(client: str, filters_by: str) -> None:
    assert Told(client).view.traits("a").filters_by == filters_by


def test_the_scenario_says_it_of_one_that_never_started() -> None:
    shown = Told("client: grpc")
    assert RunView(shown.scenario, ()).traits("a").queues == "shared"


def test_what_its_start_reported_counts_though_the_scenario_names_no_client() -> None:
    view = Told("api: push", api="push").view
    assert view.traits("a") == CLIENT_KINDS["java"].apis["push"]
    story = Told("api: push")
    story.made.events[-1].data.update(client="grpc", api="push", queues="shared", filters_by="own")
    assert story.view.traits("a") == CLIENT_KINDS["grpc"].apis["push"]
    assert story.view.kind_of_client("a") is CLIENT_KINDS["grpc"]


def test_a_reported_fact_counts_more_than_what_is_known_of_the_kind() -> None:
    shown = Told("client: python", api="push", tells_queues=False)
    assert not shown.view.traits("a").tells_queues


def test_a_kind_that_is_not_known_here_is_what_its_facts_say() -> None:
    story = Told("api: push", api="later", queues="shared", filters_by="own")
    story.made.events[-1].data["client"] = "of-the-future"
    traits = story.view.traits("a")
    assert (traits.queues, traits.filters_by) == ("shared", "own")


@pytest.mark.parametrize(
    ("client", "facts", "said"),
    [
        ("client: grpc", {}, "a owns no queue: every member is served from all of them"),
        ("api: pop", {}, "a owns no queue"),
        ("client: python", {"tells_queues": False}, "the client of a doesn't tell which queues it owns"),
        ("client: java", {}, "observed"),
    ],
)
def test_checks_that_rest_on_ownership_say_why_it_is_unknown(
    client: str, facts: dict[str, object], said: str
) -> None:
    story = Told(client, **facts)
    story.made.receive("a", "orders", story.made.send("orders", "tagA", 1, 0, 0), "tagA", 0, 0)
    story.made.offsets("g", "orders", [(1, 1)], moment="end")
    story.made.add("harness", "moment-observed", moment="end")
    for check in (
        Ownership(topic="orders", of="a", count=1),
        Ownership(topic="orders", group="g"),
        Delivered(to="g", count=1, from_queues_of="a"),
        Offsets(group="g", topic="orders", lag=0, queues_of="a"),
    ):
        answer = check.evaluate(story.view)
        assert answer.holds is Holds.UNKNOWN
        assert said in answer.observed
