"""The symptoms that come with rocketchaos, and what the language asks of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.reference.symptoms import symptoms_page
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.library import LIBRARY
from tests.unit.scenario.examples import VALID

FOLDER = [item for item in LIBRARY if Path(item.file).parent.name == "symptoms"]
SYMPTOMS = [item for item in LIBRARY if item.symptom]
TOLD = """
issue: apache/rocketmq#2760
symptom: {seen: gone, reported: all of it, texts: what they paste, cause: the mismatch, remedy: one subscription}
"""


@pytest.mark.parametrize("scenario", SYMPTOMS, ids=lambda item: item.name)
def test_each_has_issue_control_and_texts(scenario: Scenario) -> None:
    assert scenario.symptom is not None
    assert scenario.issue
    assert scenario.control
    assert scenario.symptom.texts


def test_what_lies_in_their_folder_is_a_symptom_or_a_control() -> None:
    controls = {item.control for item in SYMPTOMS}
    assert [item.name for item in FOLDER if not item.symptom and item.name not in controls] == []


def test_no_symptom_of_the_folder_expects_nothing() -> None:
    kinds = {
        item.name: item.expected_kinds for item in FOLDER if item.symptom and not item.symptom.not_reproduced
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
