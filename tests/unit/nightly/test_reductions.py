"""Smaller scenarios: each way makes something less, and the search ends at what can't be made smaller."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from harness.cluster.kinds import ClusterKind
from harness.nightly.document import WHAT_RUNS, Document, document_of, text_of
from harness.nightly.findings import NightlyFinding
from harness.nightly.generator import draw
from harness.nightly.invariants import Breach
from harness.nightly.invariants.minds import AGREE, ALLOCATION, SQL, TAGS, TOPICS
from harness.nightly.profile import Profile
from harness.nightly.reductions import REDUCTIONS
from harness.nightly.restate import name_of, opened, restated, slug, with_expectation
from harness.nightly.shrink import Shrinking, TimeIsUp, Trust, is_valid, measured, trust_of
from harness.scenario import Scenario
from harness.spec import parse_scenario
from harness.spec.models import allowed_keys
from tests.unit.nightly.stories import half_lost

LARGE = """\
name: nightly-7-1
title: large
description: drawn
marks: [nightly]
cluster: {brokers: [broker-a, broker-b]}
topics:
  orders: {queues: 4}
  bills: {queues: 2}
consumers:
  a: {group: g1, subscribe: {orders: tagA, bills: '*'}, batch_size: 4}
  b: {group: g1, subscribe: {orders: tagB}, behaviour: {fail: 1}, retry_delay_level: 1}
  c: {group: g2, subscribe: {bills: '*'}}
steps:
  - start: [a, b, c]
  - settle: {ownership: g1, within: 90s}
  - settle: {ownership: g2, within: 90s}
  - parallel:
      - - send: {topic: orders, tags: [tagA, tagB], count: 40, every: 50ms}
      - - wait: {duration: 1500ms, because: so long messages flow undisturbed}
        - kill: a
        - start: a
  - settle: {ownership: g1, within: 90s}
  - send: {topic: orders, tag: tagB, count: 32, per_queue: 4}
  - send: {topic: bills, tag: tagA, count: 8, per_queue: 2}
  - settle: {sealed: g1, within: 180s}
  - settle: {sealed: g2, within: 180s}
anomaly:
  - undelivered: {at_least: 1}
healthy:
  - undelivered: {count: 0}
tendency:
  - log: {node: broker-a, matches: 'subscription not exist, group: g1', at_least: 1}
  - log: {node: broker-b, matches: 'subscription not exist, group: g2', at_least: 1}
expected: measured
"""


def large() -> Document:
    return document_of(LARGE, "large")


def candidates(name: str, document: Document | None = None) -> list[Document]:
    return [one for one in REDUCTIONS[name](document or large()) if is_valid(one)]


def test_the_example_is_valid_and_written_as_it_was_read() -> None:
    parse_scenario(LARGE, "large")
    assert text_of(large()) == LARGE


@pytest.mark.parametrize("name", REDUCTIONS)
def test_each_way_gives_something_smaller_and_leaves_the_original_alone(name: str) -> None:
    document = large()
    found = candidates(name, document)
    assert found
    assert text_of(document) == LARGE
    assert all(text_of(one) != LARGE for one in found)


def test_with_a_group_its_members_steps_and_checks_go() -> None:
    (without_g1, without_g2) = candidates("groups")
    assert "g1" not in text_of(without_g1)
    assert "g2" not in text_of(without_g2)
    assert list(without_g2["consumers"]) == ["a", "b"]


def test_with_a_topic_go_those_who_want_nothing_else() -> None:
    without_orders = next(one for one in candidates("topics") if "orders" not in one["topics"])
    assert list(without_orders["consumers"]) == ["a", "c"]
    assert without_orders["consumers"]["a"]["subscribe"] == {"bills": "*"}


@pytest.mark.parametrize("word", ["kill", "terminate", "stop"])
def test_with_a_fault_goes_the_coming_back_but_not_the_first_start(word: str) -> None:
    large = document_of(LARGE.replace("kill: a", f"{word}: a"), "large")
    (text,) = {text_of(one) for one in candidates("faults", large)}
    assert f"{word}: " not in text
    assert text.count("start: ") == 1


def test_a_parallel_may_become_its_steps_one_after_the_other() -> None:
    assert any("parallel" not in text_of(one) and "kill: a" in text_of(one) for one in candidates("steps"))


def test_fewer_queues_and_brokers_mean_fewer_messages_of_so_many_a_queue() -> None:
    fewer = next(one for one in candidates("queues") if one["topics"]["orders"]["queues"] == 1)
    assert "count: 8, per_queue: 4" in text_of(fewer)
    alone = next(one for one in candidates("properties") if "cluster" not in one)
    assert "broker-b" not in text_of(alone)


def test_waits_become_half_as_long() -> None:
    assert any("duration: 700ms" in text_of(one) for one in candidates("waits"))


def shows_half_lost(document: Document) -> bool:
    """As if the finding needed b, its tag, one sending of that and one of two queues."""
    text = text_of(document)
    orders = document["topics"].get("orders", {})
    return (
        "a: {group: g1" in text
        and "subscribe: {orders: tagB}" in text
        and "tag: tagB" in text
        and (orders.get("queues", 0) >= 2)
    )


def test_the_search_ends_at_what_is_needed_and_nothing_else() -> None:
    search = Shrinking(large(), shows_half_lost, Trust(1, 1))
    smallest = search.run()
    assert shows_half_lost(smallest)
    assert is_valid(smallest)
    assert list(smallest["consumers"]) == ["a", "b"]
    assert list(smallest["topics"]) == ["orders"]
    assert smallest["topics"]["orders"] == {"queues": 2}
    assert "cluster" not in smallest
    assert len(smallest["steps"]) <= 3
    assert not any(
        shows_half_lost(one) for way in REDUCTIONS.values() for one in way(smallest) if is_valid(one)
    )


def test_the_search_ends_when_the_time_is_up() -> None:
    asked: list[Document] = []

    def never(document: Document) -> bool:
        asked.append(document)
        return False

    search = Shrinking(large(), never, Trust(1, 1), is_late=lambda: True)
    assert search.run() == large()
    assert asked == []
    assert not search.in_time


def test_a_candidate_of_which_the_time_keeps_from_knowing_changes_nothing() -> None:
    def late(_document: Document) -> bool:
        raise TimeIsUp

    search = Shrinking(large(), late, Trust(1, 1))
    assert search.run() == large()
    assert not search.in_time


def test_nothing_is_run_twice() -> None:
    asked: list[str] = []

    def shows(document: Document) -> bool:
        asked.append(str([document.get(key) for key in WHAT_RUNS]))
        return shows_half_lost(document)

    search = Shrinking(large(), shows, Trust(1, 1))
    search.run()
    assert len(asked) == len(set(asked)) > 20
    assert search.in_time


@pytest.mark.parametrize(
    ("answers", "trust", "holds", "runs"),
    [
        ([True, True, True], Trust(3, 3), True, 3),
        ([True, False, True], Trust(3, 3), False, 2),
        ([False, True, True], Trust(2, 3), True, 3),
        ([False, False, True], Trust(2, 3), False, 2),
        ([True], Trust(1, 3), True, 1),
    ],
)
def test_a_candidate_is_run_until_it_is_decided(
    answers: list[bool], trust: Trust, holds: bool, runs: int
) -> None:
    left = list(answers)
    assert trust.holds({}, lambda _document: left.pop(0)) is holds
    assert len(answers) - len(left) == runs


def test_what_races_may_race_in_the_smaller_one_too_but_not_show_it_far_less() -> None:
    assert [trust_of(shown, 3) for shown in range(4)] == [None, Trust(1, 3), Trust(2, 3), Trust(3, 3)]
    assert [trust_of(shown, 8) for shown in (1, 2, 3, 7, 8)] == [Trust(n, 8) for n in (1, 2, 2, 6, 8)]


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([1, 0, 1], (2, 3)),
        ([1, 0, 0, 1], (2, 4)),
        ([0, 0, 0, 0, 1, 0, 1], (2, 7)),
        ([0, 1, *[0] * 10], (1, 12)),
        ([0] * 12, (0, 12)),
    ],
)
def test_what_shows_too_seldom_at_first_is_run_some_more(answers: list[int], found: tuple[int, int]) -> None:
    left = list(answers)
    assert measured({}, lambda _document: bool(left.pop(0)), 3) == found
    assert left == []


def test_the_original_is_measured_as_long_as_there_is_time() -> None:
    left = [False, True]

    def shows(_document: Document) -> bool:
        if not left:
            raise TimeIsUp
        return left.pop(0)

    assert measured({}, shows, 3) == (1, 2)


@pytest.mark.parametrize("number", range(1, 6))
def test_what_is_drawn_can_be_shrunk_to_nearly_nothing(number: int) -> None:
    drawn = draw(7, number, Profile())
    smallest = Shrinking(drawn, lambda _document: True, Trust(1, 1)).run()
    assert len(smallest["consumers"]) == len(smallest["topics"]) == len(smallest["steps"]) == 1


def test_the_result_states_the_finding_by_checks() -> None:
    (finding,) = half_lost().found()
    document = document_of(LARGE.replace("group: g1", "group: g").replace(": g1,", ": g,"), "large")
    document = with_expectation(restated(document, finding, "Shrunk from nightly-7-1"), 3, 3)
    scenario = parse_scenario(text_of(document), "shrunk")
    assert (
        scenario.title
        == "The queue's owner drops what another member wants; the members differ in their tags"
    )
    assert scenario.name == "wanted-but-not-delivered-filtered-by-client-tags-7-1"
    assert document["anomaly"][0]["undelivered"]["because"] == "filtered-by-client"
    assert document["expected"] == "reproduced"
    assert "Its checks held in 3 of 3 runs." in scenario.description
    assert with_expectation(document, 2, 3)["expected"] == "measured"
    stated = restated(document, finding, "Shrunk once more")
    assert stated["name"] == scenario.name
    assert with_expectation(stated, 0, 0) == stated


def test_where_the_cause_alone_is_known_the_title_tells_what_came_of_it() -> None:
    owned = NightlyFinding("several-owners", Breach("g", ALLOCATION, "d and e own it", ()))
    title = restated(document_of(LARGE, "large"), owned, "Shrunk")["title"]
    assert title == "Several owners; the members differ in their allocation"


CAUSES = {
    *(
        f"{what}; {how}"
        for what in (
            "filtered-by-client: the queue's owner drops what another member wants",
            "filtered-by-broker: the stored subscription passes over what a member wants",
            "stranded: the message waits in a queue that nobody consumes",
            "subscription not exist",
            "subscription not latest",
        )
        for how in (AGREE, TOPICS, TAGS, SQL, ALLOCATION)
    ),
    *(AGREE, TOPICS, TAGS, SQL, ALLOCATION),
    f"no filter can have taken it; {AGREE}",
    "no filter can have taken it; the members disagree",
    "nothing is consumed any more",
    "nothing had moved the queue",
    "more was forgotten than a broker's flush interval",
    *(
        f"{way}, of a {what} to which it doesn't subscribe"
        for way in ("through the retry topic", "straight from its queue")
        for what in ("topic", "tag")
    ),
}


def test_each_cause_has_a_short_name_of_its_own() -> None:
    slugs = {slug(cause) for cause in CAUSES}
    assert len(slugs) == len(CAUSES)
    assert all(re.fullmatch("[a-z0-9][a-z0-9-]{0,34}[a-z0-9]", one) for one in slugs)


def test_findings_of_one_kind_in_one_run_have_names_of_their_own_that_are_valid() -> None:
    (finding,) = half_lost().found()
    other = replace(finding, breach=replace(finding.breach, cause=f"stranded: nobody consumes it; {TOPICS}"))
    for name in ("nightly-7-1", "nightly-" + "7" * 72):
        document = {**large(), "name": name}
        names = {name_of(document, one) for one in (finding, other)}
        assert len(names) == 2
        assert all(re.fullmatch("[a-z0-9][a-z0-9-]{0,79}", one) for one in names)


# What decides what runs --------------------------------------------------------------------------------


SAYS_WHAT_IT_IS = {
    *("name", "title", "description", "marks", "control"),
    *("anomaly", "healthy", "also", "tendency", "repeats", "expected"),
}


def test_every_key_of_a_scenario_either_decides_what_runs_or_says_what_it_is() -> None:
    assert {*allowed_keys(Scenario)} == {*WHAT_RUNS, *SAYS_WHAT_IT_IS}
    assert not SAYS_WHAT_IT_IS & set(WHAT_RUNS)


NETWORK = """\
name: nightly-7-2
title: network
marks: [nightly]
timing: faithful
rocketmq: '>=4.9'
workers: containers
cluster: {brokers: [broker-a, broker-b], broker: {enablePropertyFilter: true}}
topics:
  orders: {queues: 2}
groups: [g3]
consumers:
  a: {group: g1, subscribe: {orders: tagA}}
  b: {group: g1, subscribe: {orders: tagB}}
producer: {client: java@4.9.4}
steps:
  - start: [a, b]
  - parallel:
      - - send: {topic: orders, tag: tagA, count: 40, every: 50ms}
      - - wait: {duration: 1s, because: so long messages flow undisturbed}
        - partition: {between: b, and: [broker-a, broker-b, nameserver]}
        - wait: {duration: 2s, because: so long it lasts}
        - heal: all
  - loss: {between: a, and: broker-a, percent: 20}
  - delay: {of: broker-b, by: 50ms}
  - wait: {duration: 2s, because: so long it lasts}
  - heal: loss
  - heal: {faults: delay, of: broker-b}
  - pause: b
  - wait: {duration: 1s, because: so long it stands still}
  - resume: b
  - pause: b
  - wait: {duration: 2s, because: so long it stands still}
  - resume: b
  - kill: producer
  - wait: {duration: 1s, because: so long nothing is sent}
  - restart: producer
anomaly:
  - undelivered: {at_least: 1}
healthy:
  - undelivered: {count: 0}
expected: measured
"""


def network() -> Document:
    return document_of(NETWORK, "network")


def words(document: Document) -> list[str]:
    return re.findall("- ([a-z-]+):", text_of(document))


def test_a_finding_keeps_all_that_decides_what_runs() -> None:
    parse_scenario(NETWORK, "network")
    (finding,) = half_lost().found()
    for made in (opened(network()), restated(network(), finding, "Shrunk")):
        assert {key: made[key] for key in WHAT_RUNS} == {key: network()[key] for key in WHAT_RUNS}
        assert made["marks"] == ["nightly"]
    parse_scenario(text_of(opened(network())), "opened")


def test_a_scenario_of_bare_groups_can_be_opened() -> None:
    document = {key: one for key, one in network().items() if key != "consumers"}
    document["steps"] = [{"send": {"topic": "orders", "tag": "tagA", "count": 4}}]
    scenario = parse_scenario(text_of(opened(document)), "opened")
    assert scenario.groups == ("g3",)
    assert len(scenario.tendency) == 4  # of one group, on two brokers


@pytest.mark.parametrize("gone", ["workers", "producer", "groups"])
def test_what_decides_what_runs_may_be_needless_and_makes_another_candidate(gone: str) -> None:
    without = {key: one for key, one in network().items() if key != gone}
    assert text_of(without) in map(text_of, REDUCTIONS["properties"](network()))
    asked: list[str] = []

    def shows(document: Document) -> bool:
        asked.append(text_of(document))
        return False

    plain = {**network(), "steps": network()["steps"][:1]}  # nothing of it needs containers
    Shrinking(plain, shows, Trust(1, 1)).run()
    assert any(f"\n{gone}:" not in text for text in asked)


def test_a_needless_setting_of_brokers_goes_alone() -> None:
    clusters = [one["cluster"] for one in candidates("properties", network()) if "cluster" in one]
    assert {"brokers": ["broker-a", "broker-b"]} in clusters


def test_each_fault_goes_with_what_undoes_it() -> None:
    found = [words(one) for one in candidates("faults", network())]
    before = Counter(words(network()))
    gone = [before - Counter(one) for one in found]
    network_gone = Counter(partition=1, loss=1, delay=1, heal=3)
    for expected in (
        Counter(pause=1, resume=1),
        Counter(kill=1, restart=1),
        Counter(pause=1, wait=1, resume=1),
        Counter(kill=1, wait=1, restart=1),
        Counter(partition=1, heal=1),
        Counter(partition=1, wait=1, heal=1),
        Counter(loss=1, heal=1),
        Counter(delay=1, heal=1),
        network_gone,
    ):
        assert expected in gone


def test_of_two_faults_of_the_network_that_end_together_one_may_go() -> None:
    text = NETWORK.replace("  - heal: loss\n  - heal: {faults: delay, of: broker-b}\n", "  - heal: all\n")
    found = [words(one) for one in candidates("faults", document_of(text, "network"))]
    assert any("loss" not in one and one.count("heal") == 2 for one in found)
    assert any("delay" not in one and one.count("heal") == 2 for one in found)


def test_with_a_member_go_its_faults_of_the_network_and_their_ends() -> None:
    (without_b, without_a) = candidates("members", network())
    assert "partition" not in words(without_b)
    assert words(without_b).count("heal") == words(without_a).count("heal") == 2
    assert "loss" not in words(without_a)


def test_on_one_broker_nothing_is_done_to_the_other_one() -> None:
    (alone,) = [one for one in candidates("properties", network()) if "brokers" not in one.get("cluster", {})]
    assert "and: [broker-a, nameserver]" in text_of(alone)
    assert "delay" not in words(alone)


def test_a_disk_that_was_full_is_free_again_or_was_never_full() -> None:
    steps = [{"start": ["a", "b"]}, {"fill-disk": "broker-a"}, {"wait": "1s"}, {"free-disk": "broker-a"}]
    document = {**large(), "steps": [*steps, {"send": {"topic": "orders", "tag": "tagA", "count": 4}}]}
    assert ["start", "wait", "send"] in [words(one)[:3] for one in candidates("faults", document)]


@pytest.mark.parametrize("act", ["partition", "loss", "reset", "delay"])
def test_what_is_drawn_for_containers_can_be_shrunk_to_nearly_nothing(act: str) -> None:
    profile = Profile.model_validate({"acts": {act: 1}, "dimensions": {"acts": {"2": 1}}})
    drawn = [draw(7, number, profile, ClusterKind.CONTAINERS) for number in range(1, 6)]
    assert any(act in text_of(one) for one in drawn)
    for document in map(opened, drawn):
        smallest = Shrinking(document, lambda _document: True, Trust(1, 1)).run()
        assert len(smallest["consumers"]) == len(smallest["topics"]) == len(smallest["steps"]) == 1
        assert "workers" not in smallest


@pytest.mark.parametrize("act", ["partition", "loss", "reset", "delay"])
def test_the_fault_that_a_finding_takes_stays_in_its_containers(act: str) -> None:
    profile = Profile.model_validate({"acts": {act: 1, "kill": 1}, "dimensions": {"acts": {"3": 1}}})
    drawn = (draw(7, number, profile, ClusterKind.CONTAINERS) for number in range(1, 40))
    document = opened(next(one for one in drawn if act in words(one) and "kill" in words(one)))
    smallest = Shrinking(document, lambda one: act in words(one), Trust(1, 1)).run()
    assert words(smallest).count(act) == 1
    assert not {"kill", "wait", "send", "settle"} & set(words(smallest))
    if act != "delay":
        assert smallest["workers"] == "containers"


@pytest.mark.parametrize(
    ("trust", "shown", "of", "shaken"),
    [
        (Trust(3, 3), 2, 3, False),
        (Trust(3, 3), 1, 3, True),
        (Trust(3, 3), 1, 12, True),
        (Trust(2, 12), 1, 12, False),
        (Trust(2, 12), 0, 12, True),
        (Trust(3, 3), 0, 0, False),
    ],
)
def test_what_shows_less_than_half_of_what_was_trusted_is_shaken(
    trust: Trust, shown: int, of: int, shaken: bool
) -> None:
    assert trust.is_shaken(shown, of) is shaken
