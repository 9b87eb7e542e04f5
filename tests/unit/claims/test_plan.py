"""What is run for claims, and how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from rocketchaos.harness.claims.evidence import RunSeen
from rocketchaos.harness.claims.plan import (
    Speed,
    by_claim,
    carriers,
    fewest,
    is_slow,
    planned,
    spoken_of,
    why_no_run,
)
from rocketchaos.harness.claims.registry import VERSIONS, claims
from rocketchaos.harness.claims.rounds import AT_A_TIME, run_rounds
from rocketchaos.harness.claims.verdicts import VerdictKind
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.model import Holds, OutcomeKind
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.claims.golden import again, answering, golden
from tests.unit.history_builder import EIGHT_MESSAGES, scenario_of
from tests.unit.library import library

RACE = golden("same-group-different-tags", more="\ntendency:\n  - delivered: {to: b, count: 4, claim: A02}\n")


def test_every_claim_has_a_check_that_carries_or_refutes_it_or_a_reason_why_not() -> None:
    spoken = {name for scenario in library() for name in spoken_of(scenario)}
    assert [name for name, claim in claims().items() if name not in spoken and not claim.unobservable] == []


def test_a_control_speaks_of_no_claim_of_its_anomaly() -> None:
    by_name = {item.name: item for item in library()}
    assert "B01" in spoken_of(by_name["same-group-different-tags"])
    assert "B01" not in spoken_of(by_name["same-group-same-tags"])
    measured = scenario_of(EIGHT_MESSAGES.replace("expected: reproduced", "expected: measured"))
    assert spoken_of(measured) == {"B01", "C02"}


def test_slow_and_fast_are_all() -> None:
    fast, slow, both = (carriers(library(), claims(), speed) for speed in (Speed.FAST, Speed.SLOW, Speed.ALL))
    assert {item.name for item in fast} | {item.name for item in slow} == {item.name for item in both}
    assert not any(map(is_slow, fast))
    assert all(map(is_slow, slow))
    assert all(is_slow(item) for item in both if item.timing == "faithful")


def test_what_has_no_scenario_is_said() -> None:
    with pytest.raises(UsageProblem, match="no scenario yet is about E15"):
        carriers(library(), ["E15"])
    with pytest.raises(UsageProblem, match="no fast scenario is about A17"):
        carriers(library(), ["A17"], Speed.FAST)


def test_few_scenarios_speak_of_many_claims() -> None:
    wanted = {"A01", "B01", "B05", "B09", "F04"}
    found = fewest(library(), wanted)
    assert wanted <= {claim for item in found for claim in spoken_of(item)}
    assert len(found) <= 4


def test_versions_are_run_one_after_the_other_and_what_can_not_is_left_out() -> None:
    plan = planned(carriers(library(), ["A01", "F04", "H08"]), VERSIONS, ClusterKind.EMBEDDED)
    versions = [job.rocketmq for job in plan.jobs]
    assert versions == sorted(versions)
    assert set(versions) == set(VERSIONS)
    assert "4.9.4" in {item.rocketmq for item in plan.left_out if item.scenario.startswith("grpc")}


@pytest.mark.parametrize(
    ("claim", "version", "kind", "text"),
    [
        ("E16", "4.9.4", VerdictKind.NOT_APPLICABLE, "nothing public can observe it: "),
        ("F04", "4.9.4", VerdictKind.UNMEASURED, "there is no run of pull-at-and-beyond-the-end"),
        ("H08", "4.9.4", VerdictKind.NOT_APPLICABLE, "it is about RocketMQ >=5"),
        ("C13", "4.9.4", VerdictKind.UNMEASURED, "`--on containers` can"),
    ],
)
def test_why_there_is_no_run_is_reported(claim: str, version: str, kind: VerdictKind, text: str) -> None:
    found, reason = why_no_run(claim, version, by_claim(library()))
    assert found is kind
    assert text in reason


def test_that_all_its_scenarios_are_about_other_versions_is_reported() -> None:
    newer = [item.model_copy(update={"rocketmq": ">=4.9.4"}) for item in library()]
    found, reason = why_no_run("F02", "4.9.3", by_claim(newer))
    assert found is VerdictKind.UNMEASURED
    assert reason == "its scenario is about RocketMQ >=4.9.4, and not about 4.9.3"


class FakeRunner:
    """Ends every run at once, with the next of the given answers."""

    def __init__(self, answers: Sequence[RunSeen]) -> None:
        self._answers = iter(answers)
        self.rounds: list[int] = []

    def run_all(self, jobs: Sequence[Job], parallel: int | None) -> Iterator[Any]:
        del parallel
        self.rounds.append(len(jobs))
        for _ in jobs:
            yield next(self._answers)


def rounds(
    scenario: Scenario, answers: Sequence[RunSeen], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[int], int]:
    """How many runs each round had, and how many there were."""
    monkeypatch.setattr("rocketchaos.harness.claims.rounds.seen", lambda run: run)
    runner, text = FakeRunner(answers), SimpleNamespace(lines=[])
    runs = list(run_rounds(runner, [Job(scenario, "4.9.4")], 1, text.lines.append))  # type: ignore[arg-type]
    assert text.lines[-1].startswith(f"round {len(runner.rounds)}: ")
    return runner.rounds, len(runs)


REPEATED = "tendency:\n  - delivered: {to: b, count: 4, claim: A02}\nrepeats: {at_least: 4, at_most: 30}\n"


def test_what_is_no_race_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rounds(scenario_of(EIGHT_MESSAGES), [RACE] * 5, monkeypatch) == ([1], 1)


def test_a_race_is_run_until_its_share_is_known_well_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = scenario_of(EIGHT_MESSAGES + REPEATED)
    always = [again(RACE, number) for number in range(40)]
    assert rounds(scenario, always, monkeypatch) == ([4, AT_A_TIME], 14)
    half = [again(item, n, answering("A02", Holds.NO)) if n % 2 else item for n, item in enumerate(always)]
    assert rounds(scenario, half, monkeypatch) == ([4, AT_A_TIME, AT_A_TIME, 6], 30)


def failing(outcome: OutcomeKind) -> list[RunSeen]:
    return [
        replace(RACE, run=f"x/{number}", outcome=outcome, not_counted=f"{outcome}: x") for number in range(40)
    ]


def test_what_an_error_ended_is_tried_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    once = scenario_of(EIGHT_MESSAGES)
    errors = failing(OutcomeKind.ERROR)
    assert rounds(once, errors, monkeypatch) == ([1, 1], 2)
    assert rounds(once, [errors[0], RACE], monkeypatch) == ([1, 1], 2)
    assert rounds(scenario_of(EIGHT_MESSAGES + REPEATED), errors, monkeypatch) == ([4, AT_A_TIME], 14)


def test_what_shows_nothing_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    unclear = failing(OutcomeKind.INCONCLUSIVE)
    assert rounds(scenario_of(EIGHT_MESSAGES), unclear, monkeypatch) == ([1], 1)
    assert rounds(scenario_of(EIGHT_MESSAGES + REPEATED), unclear, monkeypatch) == ([4], 4)
