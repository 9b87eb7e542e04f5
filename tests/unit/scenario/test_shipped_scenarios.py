"""The scenarios that come with rocketchaos, as a whole: pairs, claims, and what is told of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocketchaos.harness.claims.registry import claims
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.plan.library import scenarios_folder
from rocketchaos.harness.reference.catalogue import catalogue, claims_of, refuted_by
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.library import LIBRARY

SCENARIOS = {item.name: item for item in LIBRARY}
LATEST = "5.5.0"


def expected(scenario: Scenario) -> OutcomeKind | None:
    """What is expected with the scenario's own clients."""
    return scenario.expected_in(None, LATEST)


def is_a_control(scenario: Scenario) -> bool:
    """Whether its anomaly must be absent: on every version, and it is no symptom that no version shows."""
    return (
        expected(scenario) is OutcomeKind.NOT_REPRODUCED
        and OutcomeKind.REPRODUCED not in scenario.expected_kinds
        and scenario.symptom is None
    )


ANOMALIES = [
    scenario
    for scenario in SCENARIOS.values()
    if expected(scenario) is not None and not is_a_control(scenario)
]
RACES = [scenario for scenario in SCENARIOS.values() if expected(scenario) is None]


@pytest.mark.parametrize("scenario", [*ANOMALIES, *RACES], ids=lambda item: item.name)
def test_every_anomaly_has_a_control_in_which_it_must_be_absent(scenario: Scenario) -> None:
    control = SCENARIOS.get(str(scenario.control))
    assert control is not None, scenario.control
    assert is_a_control(control)


def test_every_control_is_the_control_of_something() -> None:
    controls = {scenario.name for scenario in SCENARIOS.values() if is_a_control(scenario)}
    assert controls == {anomaly.control for anomaly in [*ANOMALIES, *RACES]}


def test_every_claim_that_a_check_carries_or_refutes_is_in_the_registry() -> None:
    carried = {
        claim for scenario in SCENARIOS.values() for claim in (*claims_of(scenario), *refuted_by(scenario))
    }
    assert carried <= set(claims())


def test_every_claim_that_a_description_tells_of_can_be_explained() -> None:
    found = {
        claim
        for scenario in SCENARIOS.values()
        for claim in re.findall(r"\b[A-H]\d{2}\b", scenario.description)
    }
    assert found <= set(claims())


def test_the_catalogue_is_up_to_date() -> None:
    written = (scenarios_folder() / "CATALOGUE.md").read_text("utf-8")
    assert written == catalogue(), (
        "run: python -m rocketchaos.harness.reference.catalogue > scenarios/CATALOGUE.md"
    )


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda item: item.name)
def test_files_are_called_as_their_scenarios_and_lie_in_their_theme(scenario: Scenario) -> None:
    path = Path(scenario.file)
    assert path.name == f"{scenario.name}.scenario.yaml"
    assert path.parent.name in scenario.marks
    assert scenario.description or scenario.symptom
