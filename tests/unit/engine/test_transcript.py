"""What is done from Python, as a scenario file."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest
import yaml

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.model import MessageClass
from rocketchaos.harness.engine.recorded_scenario import RecordedScenario, plain, scenario_name, value_of
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.send import Send
from rocketchaos.harness.steps.start import Start
from rocketchaos.harness.steps.wait import Wait


@pytest.fixture
def transcript() -> RecordedScenario:
    transcript = RecordedScenario("test_mismatch[4.9.4]", "Same group: different tags")
    transcript.declare("topics", "orders", {"queues": 4})
    for name, tag in (("a", "tagA"), ("b", "*")):
        transcript.declare("consumers", name, {"group": "g", "subscribe": {"orders": tag}})
    return transcript


def test_it_is_a_scenario_that_says_the_same(transcript: RecordedScenario) -> None:
    transcript.add_step("start", "a")
    transcript.add_step("send", {"topic": "orders", "tag": "no", "count": 8, "per_queue": 2})
    transcript.add_check("undelivered", {"count": 8, "because": MessageClass.IN_FLIGHT})

    scenario = parse_scenario(transcript.text(), "recorded")

    assert scenario.name == "test-mismatch-4-9-4"
    assert scenario.title == "Same group: different tags"
    assert [step.word for step in scenario.steps] == ["start", "send", "observe"]
    assert scenario.consumers["b"].subscribe == {"orders": "*"}
    assert [check.at for check in scenario.anomaly] == ["check-1"]
    assert [check.word for check in scenario.healthy] == ["refuted"]


def test_a_step_is_a_line(transcript: RecordedScenario) -> None:
    transcript.add_step("start", ["a", "b"])
    scenario = transcript.add_step("send", {"topic": "orders", "tag": "x" * 500, "count": 1})

    line = scenario.line_of("steps", 1)

    assert line is not None
    assert transcript.text().splitlines()[line - 1].startswith("  - send: {topic: orders, tag: xxx")


def test_what_a_file_can_t_say_is_refused_and_not_kept(transcript: RecordedScenario) -> None:
    transcript.add_step("start", "a")
    before = transcript.text()

    with pytest.raises(InvalidScenario) as refused:
        transcript.add_step("send", {"topic": "order", "count": 1})

    assert "there is no topic `order`; did you mean `orders`?" in str(refused.value)
    assert transcript.text() == before
    assert transcript.step_count == 1


def test_a_check_that_is_refused_leaves_no_observation(transcript: RecordedScenario) -> None:
    transcript.add_step("start", "a")

    with pytest.raises(InvalidScenario):
        transcript.add_check("delivered", {"to": "a"})

    assert transcript.step_count == 1
    assert not transcript.checks_something


def test_steps_before_the_first_start_are_possible(transcript: RecordedScenario) -> None:
    transcript.add_step("send", {"topic": "orders", "count": 1})
    transcript.add_step("start", "a")

    assert transcript.step_count == 2


def test_a_check_of_an_earlier_observation_makes_none(transcript: RecordedScenario) -> None:
    transcript.add_step("start", "a")
    transcript.add_step("observe", "before")
    transcript.add_check("delivered", {"to": "a", "count": 0, "at": "before"})

    assert transcript.step_count == 2


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("test_mismatch", "test-mismatch"),
        ("Größe[ä-1]", "gr-e-1"),
        ("[]", "recorded"),
        ("x" * 200, "x" * 80),
    ],
)
def test_any_text_becomes_a_scenario_s_name(text: str, name: str) -> None:
    assert scenario_name(text) == name


def test_arguments_mean_what_a_file_would_say() -> None:
    assert value_of(Start, ("a",), {}) == "a"
    assert value_of(Start, ("a", "b"), {}) == ["a", "b"]
    assert value_of(Wait, ("5s",), {"because": "time is the point"}) == {
        "duration": "5s",
        "because": "time is the point",
    }
    assert value_of(Send, (), {"topic": "orders", "tag": None, "count": 1}) == {"topic": "orders", "count": 1}


def test_a_word_without_shorthand_says_its_fields() -> None:
    with pytest.raises(UsageProblem, match="topic, tag, tags, count"):
        value_of(Send, ("orders",), {})


def test_only_values_of_yaml_can_be_said() -> None:
    assert plain({"a": (1, True, MessageClass.LOST, Path("/db"))}) == {"a": [1, True, "lost", "/db"]}
    with pytest.raises(UsageProblem, match="can't be written in a scenario"):
        plain(object())


def test_a_check_that_fails_is_a_verdict_whatever_was_sent_so_far(transcript: RecordedScenario) -> None:
    transcript.add_step("start", "a")
    transcript.add_step("send", {"topic": "orders", "tag": "tagA", "count": 2})
    scenario = transcript.add_check("delivered", {"to": "a", "count": 3})
    assert [check.word for check in scenario.anomaly] == ["delivered"]


def _grow(transcript: RecordedScenario, call: int) -> Scenario:
    if call == 0:
        return transcript.add_step("start", ["a", "b"])
    if call % 5 == 4:
        steps = [{"send": {"topic": "orders", "tag": f"tag{call}", "count": 1}}, {"wait": "1s"}]
        return transcript.add_step("repeat", {"times": 2, "steps": steps})
    if call % 2:
        return transcript.add_step("send", {"topic": "orders", "tag": "tagA", "count": call})
    return transcript.add_check("delivered", {"to": "a", "count": call})


def test_it_grows_to_what_its_file_says_with_every_line(transcript: RecordedScenario) -> None:
    for call in range(12):
        scenario = _grow(transcript, call)
        read = parse_scenario(transcript.text(), "recorded", reach=False)

        for name in Scenario.model_fields:
            assert getattr(scenario, name) == getattr(read, name)
        assert scenario.source == transcript.text()
        for step in range(len(read.steps)):
            assert scenario.line_of("steps", step) == read.line_of("steps", step)
            assert scenario.line_of("steps", step, 1) == read.line_of("steps", step, 1)
        for section, index, _ in read.checks():
            assert scenario.line_of(section, index) == read.line_of(section, index)
        for key in ("name", "steps", "anomaly", "healthy"):
            assert scenario.line_of(key) == read.line_of(key)


def test_50_calls_render_each_word_once_and_read_the_file_once(
    transcript: RecordedScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, rendered = Mock(wraps=yaml.parse), Mock(wraps=yaml.safe_dump)
    monkeypatch.setattr(yaml, "parse", read)
    monkeypatch.setattr(yaml, "safe_dump", rendered)

    for call in range(50):
        _grow(transcript, call)
        transcript.text()

    head, declared = 3, 2 * 3
    observations = len([call for call in range(1, 50) if call % 5 != 4 and call % 2 == 0])
    assert read.call_count == 1
    assert rendered.call_count == head + declared + 50 + observations
