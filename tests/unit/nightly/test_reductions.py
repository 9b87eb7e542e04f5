"""Smaller scenarios: each way makes something less, and the search ends at what can't be made smaller."""

from __future__ import annotations

from collections import Counter

import pytest

from rocketchaos.harness.nightly.document import Document, document_of, text_of
from rocketchaos.harness.nightly.reductions import REDUCTIONS
from rocketchaos.harness.nightly.shrink import Shrinking, Trust
from rocketchaos.harness.scenario import parse_scenario
from tests.unit.nightly.documents import LARGE, NETWORK, candidates, large, network, words


def test_the_example_is_valid_and_written_as_it_was_read() -> None:
    parse_scenario(LARGE, "large")
    assert text_of(large()) == LARGE


@pytest.mark.parametrize("name", REDUCTIONS)
def test_each_way_gives_something_smaller_and_leaves_the_original_alone(name: str) -> None:
    document = large()
    found = candidates(name, document)
    assert found
    assert text_of(document) == LARGE
    assert all(text_of(candidate) != LARGE for candidate in found)


def test_with_a_group_its_members_steps_and_checks_go() -> None:
    (without_g1, without_g2) = candidates("groups")
    assert "g1" not in text_of(without_g1)
    assert "g2" not in text_of(without_g2)
    assert list(without_g2["consumers"]) == ["a", "b"]


def test_with_a_topic_go_those_who_want_nothing_else() -> None:
    without_orders = next(
        candidate for candidate in candidates("topics") if "orders" not in candidate["topics"]
    )
    assert list(without_orders["consumers"]) == ["a", "c"]
    assert without_orders["consumers"]["a"]["subscribe"] == {"bills": "*"}


@pytest.mark.parametrize("word", ["kill", "terminate", "stop"])
def test_with_a_fault_goes_the_coming_back_but_not_the_first_start(word: str) -> None:
    large = document_of(LARGE.replace("kill: a", f"{word}: a"), "large")
    (text,) = {text_of(candidate) for candidate in candidates("faults", large)}
    assert f"{word}: " not in text
    assert text.count("start: ") == 1


def test_a_parallel_may_become_its_steps_one_after_the_other() -> None:
    assert any(
        "parallel" not in text_of(candidate) and "kill: a" in text_of(candidate)
        for candidate in candidates("steps")
    )


def test_fewer_queues_and_brokers_mean_fewer_messages_of_so_many_a_queue() -> None:
    fewer = next(
        candidate for candidate in candidates("queues") if candidate["topics"]["orders"]["queues"] == 1
    )
    assert "count: 8, per_queue: 4" in text_of(fewer)
    alone = next(candidate for candidate in candidates("properties") if "cluster" not in candidate)
    assert "broker-b" not in text_of(alone)


def test_waits_become_half_as_long() -> None:
    assert any("duration: 700ms" in text_of(candidate) for candidate in candidates("waits"))


@pytest.mark.parametrize("gone", ["workers", "producer", "groups"])
def test_what_decides_what_runs_may_be_needless_and_makes_another_candidate(gone: str) -> None:
    without = {key: item for key, item in network().items() if key != gone}
    assert text_of(without) in map(text_of, REDUCTIONS["properties"](network()))
    asked: list[str] = []

    def shows(document: Document) -> bool:
        asked.append(text_of(document))
        return False

    plain = {**network(), "steps": network()["steps"][:1]}  # nothing of it needs containers
    Shrinking(plain, shows, Trust(1, 1)).run()
    assert any(f"\n{gone}:" not in text for text in asked)


def test_a_needless_setting_of_brokers_goes_alone() -> None:
    clusters = [
        candidate["cluster"] for candidate in candidates("properties", network()) if "cluster" in candidate
    ]
    assert {"brokers": ["broker-a", "broker-b"]} in clusters


def test_each_fault_goes_with_what_undoes_it() -> None:
    found = [words(candidate) for candidate in candidates("faults", network())]
    before = Counter(words(network()))
    gone = [before - Counter(item) for item in found]
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
    found = [words(candidate) for candidate in candidates("faults", document_of(text, "network"))]
    assert any("loss" not in item and item.count("heal") == 2 for item in found)
    assert any("delay" not in item and item.count("heal") == 2 for item in found)


def test_with_a_member_go_its_faults_of_the_network_and_their_ends() -> None:
    (without_b, without_a) = candidates("members", network())
    assert "partition" not in words(without_b)
    assert words(without_b).count("heal") == words(without_a).count("heal") == 2
    assert "loss" not in words(without_a)


def test_on_one_broker_nothing_is_done_to_the_other_one() -> None:
    (alone,) = [
        candidate
        for candidate in candidates("properties", network())
        if "brokers" not in candidate.get("cluster", {})
    ]
    assert "and: [broker-a, nameserver]" in text_of(alone)
    assert "delay" not in words(alone)


def test_a_disk_that_was_full_is_free_again_or_was_never_full() -> None:
    steps = [{"start": ["a", "b"]}, {"fill-disk": "broker-a"}, {"wait": "1s"}, {"free-disk": "broker-a"}]
    document = {**large(), "steps": [*steps, {"send": {"topic": "orders", "tag": "tagA", "count": 4}}]}
    assert ["start", "wait", "send"] in [words(candidate)[:3] for candidate in candidates("faults", document)]
