"""The symptoms that come with rocketchaos, and what the language asks of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.reference.symptoms import symptoms_page
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.library import library
from tests.unit.scenario.examples import VALID

TOLD = """
issue: apache/rocketmq#2760
symptom: {seen: gone, reported: all of it, texts: what they paste, cause: the mismatch, remedy: one subscription}
"""


def _in_folder() -> list[Scenario]:
    return [item for item in library() if Path(item.file).parent.name == "symptoms"]


def test_each_has_issue_control_and_texts() -> None:
    symptoms = [item for item in library() if item.symptom]
    assert len(symptoms) > 40
    assert [item.name for item in symptoms if not item.issue or not item.control] == []
    assert [item.name for item in symptoms if not (item.symptom and item.symptom.texts)] == []


def test_all_in_their_folder_are_symptoms_or_controls() -> None:
    controls = {item.control for item in library() if item.symptom}
    assert [item.name for item in _in_folder() if not item.symptom and item.name not in controls] == []


def test_no_symptom_of_the_folder_expects_nothing() -> None:
    kinds = {
        item.name: item.expected_kinds
        for item in _in_folder()
        if item.symptom and not item.symptom.not_reproduced
    }
    assert [name for name, expected in kinds.items() if expected == {OutcomeKind.NOT_REPRODUCED}] == []


def test_the_page_is_up_to_date() -> None:
    written = (Path(__file__).resolve().parents[3] / "docs" / "symptoms.md").read_text("utf-8")
    assert written == symptoms_page(), (
        "run: python -m rocketchaos.harness.reference.symptoms > docs/symptoms.md"
    )


def test_a_symptom_may_be_stated() -> None:
    scenario = parse_scenario(VALID + TOLD, "x.yaml")
    assert scenario.issue == ("apache/rocketmq#2760",)
    assert scenario.symptom is not None
    assert scenario.symptom.seen == ("gone",)
    assert scenario.story.splitlines()[-4:] == [
        "Reported: all of it",
        "Cause: the mismatch",
        "Way out: one subscription",
        "Issues: apache/rocketmq#2760",
    ]


def test_messages_may_come_in_another_order_and_to_others() -> None:
    told = TOLD.replace("seen: gone", "seen: [disordered, unwanted]")
    symptom = parse_scenario(VALID + told, "x.yaml").symptom
    assert symptom is not None
    assert symptom.seen == ("disordered", "unwanted")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("issue: apache/rocketmq#2760", ""), "needs the `issue`"),
        (("rocketmq#2760", "rocketmq"), "issue"),
        (("#2760", "#0"), "issue"),
        (("seen: gone", "seen: lost"), "seen"),
        (("texts: what they paste", "texts: []"), "texts"),
        (("texts: what they paste", "texts: ' '"), "texts"),
        (("cause: the mismatch, ", ""), "cause"),
        (("seen: gone", "seen: gone, not_reproduced: 20 runs"), "`expected` says `reproduced`"),
        (("seen: gone", "seen: gone, severity: high"), "severity"),
    ],
)
def test_a_symptom_is_checked(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InvalidScenario) as caught:
        parse_scenario(VALID + TOLD.replace(*change), "x.yaml")
    assert message in str(caught.value)
