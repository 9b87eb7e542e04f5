"""The scenarios that come with rocketchaos, as a whole: pairs, claims, and what is told of them."""

from __future__ import annotations

import re
from pathlib import Path

from rocketchaos.harness.claims.registry import claims
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.plan.library import scenarios_folder
from rocketchaos.harness.reference.catalogue import catalogue, claims_of, refuted_by
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.library import library

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


def test_every_anomaly_and_race_has_a_control_in_which_it_must_be_absent() -> None:
    controls = {scenario.name for scenario in library() if is_a_control(scenario)}
    others = [scenario for scenario in library() if expected(scenario) is None or not is_a_control(scenario)]
    assert others
    assert [item.name for item in others if item.control not in controls] == []
    assert controls == {item.control for item in others}


def test_every_claim_that_a_check_carries_or_refutes_is_in_the_registry() -> None:
    carried = {claim for scenario in library() for claim in (*claims_of(scenario), *refuted_by(scenario))}
    assert carried <= set(claims())


def test_every_claim_that_a_description_tells_of_can_be_explained() -> None:
    found = {claim for scenario in library() for claim in re.findall(r"\b[A-H]\d{2}\b", scenario.description)}
    assert found <= set(claims())


def test_the_catalogue_is_up_to_date() -> None:
    written = (scenarios_folder() / "CATALOGUE.md").read_text("utf-8")
    assert written == catalogue(), (
        "run: python -m rocketchaos.harness.reference.catalogue > scenarios/CATALOGUE.md"
    )


def test_files_are_called_as_their_scenarios_and_lie_in_their_theme() -> None:
    files = {Path(item.file): item for item in library()}
    assert [path for path, item in files.items() if path.name != f"{item.name}.scenario.yaml"] == []
    assert [path for path, item in files.items() if path.parent.name not in item.marks] == []


def test_every_scenario_has_its_text_and_says_what_it_shows() -> None:
    assert [item.name for item in library() if item.source != Path(item.file).read_text("utf-8")] == []
    assert [item.name for item in library() if not (item.description or item.symptom)] == []
