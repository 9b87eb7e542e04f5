"""What is drawn can be run, is the same again, and covers what there is to be drawn."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.nightly.dimensions import DIMENSIONS, TAGS
from rocketchaos.harness.nightly.document import document_of, text_of
from rocketchaos.harness.nightly.duration import expected_s
from rocketchaos.harness.nightly.generator import draw, scenario_of
from rocketchaos.harness.nightly.operations import OPERATIONS
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.nightly.triggers import TRIGGERS
from rocketchaos.harness.plan.feasibility import why_not
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps import Step
from rocketchaos.harness.steps.base import every_step
from rocketchaos.harness.steps.subscribe import Subscribe
from rocketchaos.harness.steps.unsubscribe import Unsubscribe
from tests.unit.nightly.drawn import drawn_once

USUAL, OF_ONE_MIND = Profile(), Profile(consistent="only")
MANY = 60

numbers = st.integers(min_value=1, max_value=10**9)


@given(seed=numbers, number=numbers, agreeing=st.booleans(), on=st.sampled_from(ClusterKind))
def test_every_scenario_can_be_meant_and_reads_as_it_was_drawn(
    seed: int, number: int, agreeing: bool, on: ClusterKind
) -> None:
    document = draw(seed, number, OF_ONE_MIND if agreeing else USUAL, on)
    text = text_of(document)
    parse_scenario(text, "drawn")
    assert document_of(text, "drawn") == document


@given(seed=numbers, number=numbers)
def test_a_scenario_depends_on_seed_number_and_profile_alone(seed: int, number: int) -> None:
    first = text_of(draw(seed, number, USUAL))
    draw(seed + 1, number, USUAL)
    random.seed(0)
    assert text_of(draw(seed, number, USUAL)) == first


DRAWS = """
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.nightly.document import text_of
from rocketchaos.harness.nightly.generator import draw
from rocketchaos.harness.nightly.profile import Profile

for on in ClusterKind:
    for number in range(1, 60):
        print(text_of(draw(3, number, Profile(), on)))
"""


def test_a_scenario_depends_on_no_hash_either() -> None:
    # Within one process each set has the same order every time: only another one would show it.
    drawn_by = [
        subprocess.run(
            [sys.executable, "-c", DRAWS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert drawn_by[0].count("name: nightly-3-") == 59 * len(ClusterKind)
    assert drawn_by[0] == drawn_by[1]


def test_other_numbers_and_other_seeds_are_other_scenarios() -> None:
    texts = {text_of(draw(seed, number, USUAL)) for seed in (1, 2) for number in range(1, 30)}
    assert len(texts) == 58


def steps_of(scenario: Scenario) -> list[Step]:
    return list(every_step(scenario.steps))


def drawn(profile: Profile, seed: int = 5) -> list[Scenario]:
    return [drawn_once(seed, number, profile) for number in range(1, MANY)]


def test_every_step_that_acts_do_and_every_anchor_is_drawn() -> None:
    signs = {f"- {word}: " for word in ("kill", "stop", "pause", "resume", "subscribe", "unsubscribe")}
    signs |= {"- kill: broker-a", "- restart: broker-a", "- pause: broker-a", "- kill: nameserver"}
    signs |= {"- kill: producer", "- restart: producer", "- pause: producer", "may_fail: true"}
    signs |= {"- terminate: ", "- terminate: producer", "- stop: nameserver", "- restart: nameserver"}
    signs |= {"- pause: nameserver", "- broker-config: ", "unstored: ", "so long after the rebalance"}
    signs |= {
        "- observe: ",
        "- parallel:",
        "- release: ",
        "beside: ",
        "client_id: ",
        "api: lite-pull",
        "sql: ",
    }
    signs |= {
        "listener: orderly",
        "strategy: ",
        "batch_size: ",
        "process: own",
        "brokers: [broker-a, broker-b]",
    }
    signs |= {"oneway: true", "batch: 2", "delay_level: 1", "state: commit", "checked: commit"}
    signs |= {
        "by: exception",
        "settings: {pullBatchSize: 1}",
        "- topic-config: ",
        "subscribes to bills as well",
        "- suspend-consumer: ",
        "- resume-consumer: ",
        "- delete-group: ",
        "hash_key: ",
        "producers:",
        "producer: p2",
    }
    signs |= {"fail: 1", "fail: 2", "slow: ", "block: ", "tagX", *TAGS}
    for number in range(1, 900):
        text = text_of(draw(11, number, USUAL))
        signs = {sign for sign in signs if sign not in text}
        if not signs:
            break
    assert signs == set()


def test_the_network_is_touched_where_clients_live_in_containers_alone() -> None:
    profile = Profile(
        operations={name: 1 for name, operation in OPERATIONS.items() if operation.in_containers}
    )
    there = [scenario_of(3, number, profile, ClusterKind.CONTAINERS) for number in range(1, MANY)]
    words = {step.word for scenario in there for step in steps_of(scenario)}
    assert words >= {"partition", "loss", "reset", "delay", "heal"}
    assert {why_not(scenario, "5.5.0", ClusterKind.CONTAINERS) for scenario in there} == {None}
    here = [scenario_of(3, number, profile) for number in range(1, MANY)]
    assert not {step.word for scenario in here for step in steps_of(scenario)} & {"partition", "heal"}
    assert {why_not(scenario, "5.5.0", ClusterKind.EMBEDDED) for scenario in here} == {None}


def test_some_groups_are_of_one_mind_and_some_are_not() -> None:
    minds = {
        len({str(consumer.subscribe) for consumer in scenario.consumers.values() if consumer.group == group})
        > 1
        for scenario in drawn(USUAL)
        for group in scenario.groups
        if len(scenario.members(group)) > 1
    }
    assert minds == {True, False}


def test_where_only_one_mind_is_wanted_nobody_ever_differs() -> None:
    for scenario in drawn(OF_ONE_MIND):
        for group in scenario.groups:
            members = [scenario.consumers[name] for name in scenario.members(group)]
            assert len({str(member.subscribe) for member in members}) == 1, scenario.name
            assert len({member.strategy for member in members}) == 1, scenario.name
        assert not [step for step in steps_of(scenario) if isinstance(step, Subscribe | Unsubscribe)]


def test_faults_are_as_many_where_only_one_mind_is_wanted() -> None:
    shares = []
    for profile in (USUAL, OF_ONE_MIND):
        words = [step.word for scenario in drawn(profile) for step in steps_of(scenario)]
        shares.append((words.count("kill") + words.count("pause")) / MANY)
    usual, agreeing = shares
    assert agreeing > 0.8 * usual


def test_whoever_is_paused_goes_on() -> None:
    for scenario in drawn(USUAL):
        steps = steps_of(scenario)
        paused = [name for step in steps if step.word == "pause" for name in step.targets]
        resumed = [name for step in steps if step.word == "resume" for name in step.targets]
        assert sorted(paused) == sorted(resumed)


def test_whoever_is_suspended_goes_on() -> None:
    seen = 0
    for number in range(1, MANY):
        steps = steps_of(scenario_of(6, number, Profile(operations={"suspend": 1})))
        suspended = [name for step in steps if step.word == "suspend-consumer" for name in step.consumers]
        resumed = [name for step in steps if step.word == "resume-consumer" for name in step.consumers]
        assert suspended == resumed
        seen += len(suspended)
    assert seen


def test_a_group_that_may_retry_is_never_deleted() -> None:
    deleted = 0
    for number in range(1, 3 * MANY):
        scenario = scenario_of(6, number, Profile(operations={"delete-group": 1}))
        groups = [step.group for step in steps_of(scenario) if step.word == "delete-group"]
        for name in (name for group in groups for name in scenario.members(group)):
            assert not scenario.consumers[name].behaviour.fail
            assert scenario.consumers[name].api != "pop"
        deleted += len(groups)
    assert deleted


def test_a_profile_replaces_the_weights_that_it_names() -> None:
    profile = Profile(
        dimensions={"topics": {"1": 1}, "operations": {"1": 1}, "sending": {"usual": 1}},
        operations={"kill": 1},
        triggers={"flow": 1},
    )
    for scenario in drawn(profile):
        assert list(scenario.topics) == ["orders"]
        words = {step.word for step in steps_of(scenario)}
        assert not words & {"pause", "subscribe", "observe"}


@pytest.mark.parametrize("client", DIMENSIONS["client"].weights)
def test_whatever_the_client_it_is_given_what_it_knows(client: str) -> None:
    kind, _, api = client.partition(" ")
    profile = Profile(dimensions={"client": {client: 1}})
    for number in range(1, 40):
        consumers = scenario_of(4, number, profile).consumers.values()
        assert {(consumer.choice.kind.name, consumer.api) for consumer in consumers} == {(kind, api)}


def test_registries_name_their_entries() -> None:
    for registry in (OPERATIONS, TRIGGERS, DIMENSIONS):
        assert all(name == item.name and item.meaning for name, item in registry.items())  # type: ignore[attr-defined]


@pytest.mark.parametrize("number", range(1, 20))
def test_what_is_expected_of_a_scenario_is_some_seconds(number: int) -> None:
    assert 2 < expected_s(scenario_of(7, number, USUAL)) < 150


def test_a_stall_is_drawn_where_a_profile_names_it_alone() -> None:
    named = Profile(operations={"stall": 1, "stall-broker": 1})
    texts = [text_of(draw(5, number, named)) for number in range(1, 40)]
    assert any("- stall: broker-a" in text for text in texts)
    assert any("- stall: " in text and "- stall: broker" not in text for text in texts)
    for number in range(1, 40):
        scenario_of(5, number, named)
        assert "stall" not in text_of(draw(5, number, USUAL))
