"""`rocketchaos explain`: every word of the language, and what is near to one that doesn't exist."""

from __future__ import annotations

import re

import pytest

from rocketchaos.assertions import CHECKS
from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import Holds, MessageClass, OutcomeKind
from rocketchaos.harness.reference.explain import entries, meanings
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.rocketmq.timing_profiles import PROFILES
from rocketchaos.harness.steps import STEPS

ANSWERS = [item.value for kind in (OutcomeKind, MessageClass, Holds) for item in kind]
CODES = [str(int(code)) for code in ExitCode]


def test_every_word_is_explained_from_its_documentation() -> None:
    known = {entry.name for entry in entries()}
    clients = {name for name, kind in CLIENT_KINDS.items() if not kind.users_program}
    assert {*STEPS, *CHECKS, *ANSWERS, *PROFILES, *CODES, *clients, "matrix"} <= known
    for word, model in {**STEPS, **CHECKS}.items():
        assert {f"{word}.{field.alias or name}" for name, field in model.model_fields.items()} <= known
        assert any(entry.example == model.example.strip() for entry in meanings(word))
    assert all(entry.text.strip() for entry in entries())


def test_a_word_that_is_a_step_and_a_check_has_both_meanings() -> None:
    both = set(STEPS) & set(CHECKS)
    assert both
    for word in both:
        assert {"step", "check"} <= {entry.kind for entry in meanings(word)}


def test_a_key_is_found_with_and_without_its_word() -> None:
    assert [entry.name for entry in meanings("per_queue")] == ["send.per_queue"]
    assert meanings("send.per_queue") == meanings("per_queue")
    assert [entry.kind for entry in meanings("bind.member-of")] == ["key of `bind`"]
    assert meanings("consumer.behaviour.fail")


def test_what_a_program_is_and_what_reports_call_it() -> None:
    for word in ("app", "command", "image"):
        names = {entry.name for entry in meanings(word)}
        assert f"expected.{word}" in names
        assert ("consumer.app" if word == "app" else f"consumer.app.{word}") in names
    assert any("jar" in {key.name for key in entry.keys} for entry in meanings("app"))


@pytest.mark.parametrize(
    "word",
    [*STEPS, *CHECKS, *ANSWERS, *PROFILES, *CODES, *CLIENT_KINDS, "matrix", "consumer", "send.tag", "lag"],
)
def test_each_is_shown(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", word]) == 0
    shown = capsys.readouterr().out
    assert word in shown
    assert "**" not in shown


def test_a_step_shows_example_keys_and_short_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "start"]) == 0
    shown = capsys.readouterr().out
    assert "start  (step)" in shown
    assert "Example:\n    start: [a, b]" in shown
    assert "Short: `start: …` is `start: {consumers: …}`." in shown
    assert "    consumers: a consumer or a variable" in shown


def test_without_a_word_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    listed = capsys.readouterr().out.split()
    assert {*STEPS, *CHECKS, *ANSWERS, *PROFILES, *CODES} <= set(listed)


def test_a_key_of_many_words_is_shown_by_its_places(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "within"]) == 0
    assert main(["explain", "broker"]) == 0
    assert "pull.broker" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "near"),
    [("deliverd", "delivered"), ("filtered-by-clint", "filtered-by-client"), ("sned", "send")],
)
def test_an_unknown_word_gets_the_nearest(word: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", word]) == ExitCode.USAGE
    assert f"there is no word `{word}`; did you mean `{near}`?" in capsys.readouterr().err
    assert main(["explain", "qqqqqq"]) == ExitCode.USAGE
    assert "`rocketchaos explain` lists all words" in capsys.readouterr().err


def test_an_explanation_fits_a_terminal_of_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["explain", "settle"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_refuted_claim_shows_what_is_so_instead_and_where_it_is_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["explain", "F04"]) == 0
    shown = capsys.readouterr().out
    assert "F04  (claim)" in shown
    assert "Predicted: confirmed (<4.9.4), refuted (>=4.9.4)." in shown
    assert re.search(r"Measured: .*refuted \(4\.9\.4", shown)
    assert "What really happens: It is sent to the end of the queue" in shown
    assert "check that shows the contrary if it holds:\n    pull-at-and-beyond-the-end\n" in shown
