"""`--watch` and `--within` take one number and one unit; what they refuse is said with the way out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.diagnose import diagnosis as diagnosis_module
from tests.unit.diagnose.broker_edits import offset
from tests.unit.diagnose.member_edits import ALIKE
from tests.unit.diagnose.reports import codes, diagnosis, unknown

STANDS: Any = ("mismatch-4.9.4.json", ALIKE, *offset(lambda _look: 1))
"""An offset that doesn't move, which takes 25 s to be certain of."""


@pytest.mark.parametrize("option", ["--watch", "--within"])
@pytest.mark.parametrize("duration", ["5m10s", "5", "m"])
def test_a_duration_that_is_refused_says_how_to_write_it(
    duration: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", "--namesrv", "127.0.0.1:1", option, duration]) == 2
    shown = capsys.readouterr().err
    assert f"{option}: a duration needs a number and a unit" in shown
    assert "`5m10s` is `310s`" in shown


def test_a_watch_has_no_limit_to_its_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "--namesrv", "127.0.0.1:1", "--watch", "1m", "--within", "3s"]) == 2
    assert "`--watch` and `--within` exclude each other" in capsys.readouterr().err


@pytest.mark.parametrize(("within_s", "looks_again"), [(0.0, False), (0.3, True)])
def test_what_may_be_a_moment_is_undetermined_when_the_time_is_over(
    within_s: float, looks_again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis_module, "LOOKS_AFTER_S", (0.1,))
    live = replace(diagnosis(*STANDS, looks=20), recorded=None, within_s=within_s)
    report = asyncio.run(live.run())
    assert (live.looked > 1) is looks_again
    assert "RC0501" not in codes(report)
    assert "RC0501" in unknown(report)
