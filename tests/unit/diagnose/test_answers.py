"""The answers of one diagnosis: the first look's at once, the last one's in the end, or Ctrl-C's."""

from __future__ import annotations

import asyncio

import pytest

from rocketchaos.harness.cli.diagnose import code_of
from rocketchaos.harness.cli.diagnose_answers import Answers
from rocketchaos.harness.cli.terminal import ERR, OUT
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report, Unsettled
from rocketchaos.harness.diagnose.finding import Level
from tests.unit.diagnose.planted import PLANTED
from tests.unit.diagnose.reports import codes, diagnosis, unknown

(NO_OWNER,) = [item for item in PLANTED if item.code == "RC0301"]


def looking(monkeypatch: pytest.MonkeyPatch, looks: int) -> Diagnosis:
    """Of a mismatch and queues that nobody owns: it looks so often, as at a live cluster."""
    monkeypatch.setattr("rocketchaos.harness.diagnose.diagnosis.LOOKS_AFTER_S", (0.0,))
    monkeypatch.setattr(Diagnosis, "_looks_again", lambda self, *_: self.looked < looks)
    found = diagnosis("mismatch-4.9.4.json", *NO_OWNER.changes, looks=looks)
    found.recorded = None
    return found


def answered(monkeypatch: pytest.MonkeyPatch, looks: int) -> tuple[Answers, Report]:
    """After the last look; the last answer isn't printed yet."""
    found = looking(monkeypatch, looks)
    answers = Answers(verbose=False, speaker=OUT)
    found.on_early_answer = answers.early
    return answers, asyncio.run(found.run())


def test_the_first_answer_has_the_proof_and_the_last_one_only_that_of_what_is_new(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers, report = answered(monkeypatch, 29)
    answers.last(report)
    first, _, last = capsys.readouterr().out.partition("\nAfter ")
    assert "undetermined [RC0301]" in first
    assert "error [RC0301]" not in first
    assert "error [RC0301]" in last
    for part, proven in ((first, ["RC0101"]), (last, ["RC0301"])):
        assert [code for code in sorted(codes(report)) if f"rocketchaos explain {code}" in part] == proven
    assert "(proof above)" in last


def test_what_later_looks_find_is_told_as_soon_as_it_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answered(monkeypatch, 33)
    told = capsys.readouterr().err
    assert told.count("found now: error [RC0301]") == 1
    assert "[RC0101]" not in told  # which the first answer has
    assert "RC0301 may be a moment of a change: looking again" in told


def test_json_leaves_standard_output_to_the_last_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = looking(monkeypatch, 2)
    found.on_early_answer = Answers(verbose=False, speaker=ERR).early
    asyncio.run(found.run())
    written = capsys.readouterr()
    assert "error [RC0101]" in written.err
    assert written.out == ""


def test_ctrl_c_after_the_first_look_answers_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    found = looking(monkeypatch, 29)

    async def interrupted() -> Report:
        task = asyncio.ensure_future(found.run())

        def on_early_answer(_report: Report, _unsettled: Unsettled) -> None:
            task.cancel()

        found.on_early_answer = on_early_answer
        return await task

    report = asyncio.run(interrupted())
    assert report.interrupted
    assert len(report.looks) == 1
    assert "RC0101" in codes(report)
    assert "RC0301" in unknown(report)
    assert code_of(report, Level.WARNING) is ExitCode.INTERRUPTED


def test_ctrl_c_within_the_first_look_answers_nothing() -> None:
    found = diagnosis("mismatch-4.9.4.json")

    async def interrupted() -> Report:
        task = asyncio.ensure_future(found.run())
        task.cancel()
        return await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted())


@pytest.mark.parametrize("writes", [True, False])
def test_ctrl_c_tells_of_files_only_who_asked_for_some(
    writes: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    Answers(verbose=False, speaker=OUT).interrupted(writes=writes)
    assert ("no file is written" in capsys.readouterr().err) is writes
