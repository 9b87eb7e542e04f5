"""Words are found by their names, and loaded when they are used."""

from __future__ import annotations

from pathlib import Path

import pytest

import rocketchaos.assertions
import rocketchaos.harness.steps
from rocketchaos.assertions import CHECKS
from rocketchaos.assertions.base import Check
from rocketchaos.harness.conditions.registry import OBSERVERS
from rocketchaos.harness.language.word_registry import WordRegistry
from rocketchaos.harness.language.words import Word
from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.scenario import load
from rocketchaos.harness.scenario.load import read_yaml
from rocketchaos.harness.steps import STEPS, process_fault
from rocketchaos.harness.steps.base import STATES, Step
from rocketchaos.harness.steps.settle import CONDITIONS
from tests.unit.library import some


@pytest.mark.parametrize(("registry", "kind"), [(STEPS, Step), (CHECKS, Check)], ids=["steps", "checks"])
def test_every_word_is_that_of_its_model(registry: WordRegistry[Word], kind: type[Word]) -> None:
    for word, model in registry.items():
        assert model.word == word
        assert issubclass(model, kind)
        assert word in registry
    assert len(registry) == len(list(registry)) > 20


@pytest.mark.parametrize("name", ["base", "Start", "", "no-such", "sta", 5])
def test_what_is_no_word_is_not_loaded(name: str) -> None:
    assert name not in STEPS
    assert STEPS.get(name) is None


def test_every_file_of_a_word_is_registered() -> None:
    """A step or check that nobody registered could never be used."""
    for package, registry in ((rocketchaos.harness.steps, STEPS), (rocketchaos.assertions, CHECKS)):
        files = Path(str(package.__file__)).parent.glob("*.py")
        written = {file.stem.replace("_", "-") for file in files if '\n    word = "' in file.read_text()}
        assert written | (set(process_fault.WORDS) & set(registry)) == set(registry)


def test_every_condition_of_settle_is_looked_for() -> None:
    assert list(OBSERVERS) == list(CONDITIONS)


def test_the_states_are_those_that_steps_know() -> None:
    moves = [step.moves for step in STEPS.values() if step.moves]
    assert {state for before, after in moves for state in (*before, after) if state} == STATES


def test_both_parsers_read_the_same_of_every_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {str(path): path.read_text() for path in some([*shipped().values()])}
    quickly = {file: read_yaml(text, file) for file, text in texts.items()}
    assert all(load._read_quickly(text, file, "", "") for file, text in texts.items())
    monkeypatch.setattr(load, "_read_quickly", lambda *_unused: None)
    assert quickly == {file: read_yaml(text, file) for file, text in texts.items()}
