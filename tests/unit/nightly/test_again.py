"""`rocketchaos reproduce` of a night's run: its findings are looked for in the new runs. Nothing is started."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.cli import main as cli
from rocketchaos.harness.cli import reproduce
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import OutcomeKind, Trouble
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.folder import load_report
from rocketchaos.harness.reporting.parts.earlier_run import Again, exit_code_of
from tests.unit.nightly.recorded import RUN, SILENT

CODE = "wanted-but-not-delivered-filtered-by-client-tags"
SIGNATURE = (
    "wanted-but-not-delivered: filtered-by-client: the queue's owner drops what another member wants; "
    "the members differ in their tags"
)
SHOWS, SHOWS_NOT, FAILS = "shows", "shows not", "fails"


def report_of(job: Job, answer: str) -> Report:
    """A recorded run's history, as one of this scenario."""
    recorded = load_report(RUN if answer == SHOWS else SILENT)
    kind = {SHOWS: OutcomeKind.REPRODUCED, SHOWS_NOT: OutcomeKind.NOT_REPRODUCED}.get(answer)
    expected = None if job.scenario.expected == "measured" else OutcomeKind.REPRODUCED
    outcome = dataclasses.replace(
        recorded.outcome,
        kind=kind or OutcomeKind.ERROR,
        expected=expected,
        as_expected=None if expected is None else kind is expected,
        trouble=Trouble.ENVIRONMENT if kind is None else None,
    )
    return dataclasses.replace(recorded, outcome=outcome)


class AnsweringRunner:
    """Each run ends as the next answer says."""

    answers: Sequence[str] = ()

    def __init__(self, options: Any) -> None:
        self.options = options
        self.reports: list[Report] = []
        self.kept: list[Any] = []

    def __enter__(self) -> AnsweringRunner:
        return self

    def __exit__(self, *_unused: object) -> None:
        pass

    def absences(self, _jobs: Sequence[Job]) -> dict[Any, Any]:
        return {}

    def run_all(self, jobs: Sequence[Job], _parallel: int | None) -> Iterator[Report]:
        for job, answer in zip(jobs, self.answers, strict=True):
            self.reports.append(report_of(job, answer))
            yield self.reports[-1]


def a_run(folder: Path, marks: str = "nightly", expected: str = "measured") -> Path:
    """A run that shows one finding, with a scenario as a night draws it."""
    run = folder / "run"
    shutil.copytree(RUN, run)
    text = re.sub(r"(?m)^(marks|expected|control):.*\n", "", (run / "scenario.yaml").read_text())
    (run / "scenario.yaml").write_text(f"{text}\nmarks: [{marks}]\nexpected: {expected}\n")
    return run


def reproduced(
    monkeypatch: pytest.MonkeyPatch, run: Path, answers: Sequence[str], *more: str
) -> ExitCode | int:
    monkeypatch.setattr(reproduce, "Runner", AnsweringRunner)
    monkeypatch.setattr(AnsweringRunner, "answers", answers)
    return cli.main(["reproduce", str(run), "--repeat", str(len(answers)), *more])


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ([SHOWS], "in 1 of 1 runs\n"),
        ([SHOWS, SHOWS, SHOWS], "in 3 of 3 runs\n"),
        ([SHOWS_NOT, SHOWS, SHOWS_NOT], "in 1 of 3 runs\n"),
    ],
)
def test_it_is_reported_in_how_many_runs_a_finding_was_there(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    answers: list[str],
    text: str,
) -> None:
    assert reproduced(monkeypatch, a_run(tmp_path), answers) == ExitCode.AS_EXPECTED
    out, err = capsys.readouterr()
    assert f"finding {CODE} ({SIGNATURE}): {text}" in out
    assert "not every finding" not in err


def test_a_finding_that_is_never_there_is_inconclusive_where_nothing_else_is_expected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [SHOWS_NOT, SHOWS_NOT]
    assert reproduced(monkeypatch, a_run(tmp_path), answers) == ExitCode.INCONCLUSIVE
    out, err = capsys.readouterr()
    assert f"finding {CODE} ({SIGNATURE}): in 0 of 2 runs\n" in out
    assert "not every finding was seen again" in err
    assert "--repeat" in err


def test_where_the_scenario_expects_something_its_own_checks_decide(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(tmp_path, expected="reproduced")
    assert reproduced(monkeypatch, run, [SHOWS, SHOWS_NOT]) == ExitCode.NOT_AS_EXPECTED
    assert f"finding {CODE} ({SIGNATURE}): in 1 of 2 runs\n" in capsys.readouterr().out
    assert reproduced(monkeypatch, run, [SHOWS]) == ExitCode.AS_EXPECTED


def test_an_error_stays_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduced(monkeypatch, a_run(tmp_path), [SHOWS, FAILS]) == ExitCode.ENVIRONMENT
    assert f"{SIGNATURE}): in 1 of 2 runs; 1 of them say nothing\n" in capsys.readouterr().out


def test_the_document_has_it_and_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(tmp_path)
    for answers, code in (([SHOWS, SHOWS_NOT], 0), ([SHOWS_NOT], 3)):
        assert reproduced(monkeypatch, run, answers, "--json") == code
        document = json.loads(capsys.readouterr().out)
        (item,) = document["findings"]
        assert item == {
            "code": CODE,
            "signature": SIGNATURE,
            "runs": answers.count(SHOWS),
            "of": len(answers),
            "say_nothing": 0,
        }
        assert document["summary"]["exit_code"] == code


def test_of_what_no_night_has_drawn_nothing_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(tmp_path, marks="slow")
    assert reproduced(monkeypatch, run, [SHOWS_NOT]) == ExitCode.AS_EXPECTED
    assert "finding " not in capsys.readouterr().out
    assert reproduced(monkeypatch, run, [SHOWS_NOT], "--json") == ExitCode.AS_EXPECTED
    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_without_any_run_nothing_is_inconclusive() -> None:
    assert exit_code_of([], [Again(CODE, SIGNATURE, 0, 0, 0)]) is ExitCode.AS_EXPECTED
