"""A night: what begins, what is tried again, what is told, and how it ends."""

from __future__ import annotations

from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, UsageProblem
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.nightly import night as night_module
from rocketchaos.harness.nightly import nightly_run as run_module
from rocketchaos.harness.nightly.night import (
    BROKEN_AT_MOST,
    BROKEN_FOR_GOOD,
    DRAWS_TO_FIT,
    TEAR_DOWN_S,
    Night,
)
from rocketchaos.harness.nightly.night_report import lines
from rocketchaos.harness.nightly.nightly_run import NightlyRun
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.nightly.shard import Shard
from rocketchaos.harness.nightly.summary import summary_of
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.reporting.base import Report
from tests.unit.nightly.nights import SHORT, FakeRunner, always, night_of, played, summary
from tests.unit.nightly.stories import Story, half_lost, quiet

# What begins -------------------------------------------------------------------------------------------


def test_scenarios_run_one_after_the_other_until_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    given_back: list[int] = []
    monkeypatch.setattr(night_module, "give_back", lambda: given_back.append(len(runner.reports)))
    runner = FakeRunner(always(quiet()), always(None))
    night = played(runner)
    assert given_back == [0] * len(night.runs)  # what each has left is told by then, and kept nowhere
    assert 10 <= len(night.runs) <= 17
    assert night.took_s <= 180 - TEAR_DOWN_S
    numbers = [int(name.rpartition("-")[2]) for name in runner.jobs]
    assert numbers == sorted(numbers)
    assert numbers[:9] == list(range(1, 10))  # later ones may be too long for what is left


def test_what_cannot_end_in_time_does_not_begin() -> None:
    runner = FakeRunner(always(quiet()), always(None))
    night = played(runner, minutes=(TEAR_DOWN_S + 1) / 60)
    assert runner.jobs == []
    assert night.passed_over == DRAWS_TO_FIT
    assert summary_of(night, frozenset()).exit_code is ExitCode.INCONCLUSIVE


def test_what_is_too_long_for_the_profile_is_passed_over() -> None:
    runner = FakeRunner(always(quiet()), always(None))
    night = played(runner, profile=Profile.model_validate({"longest": "12s"}))
    assert night.passed_over > 1
    assert runner.jobs


def test_what_this_version_can_not_do_is_passed_over() -> None:
    runner = FakeRunner(always(quiet()), always(None))
    profile = Profile(dimensions={**SHORT.dimensions, "client": {"java pop": 1, "java push": 1}})
    night = played(runner, profile=profile)  # of 4.9.4, which has no POP
    assert night.passed_over > 1
    assert night.runs


def test_what_takes_longer_than_expected_is_cut_off_when_the_time_is_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(night_module, "CUT_OFF_S", 180 - 0.2)
    runner = FakeRunner(always(quiet()), always(None))

    def never_ends(job: Job, slot: object = None) -> Report:
        assert runner.interrupted.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", never_ends)
    night = played(runner)
    assert (night.runs, night.cut_off) == ([], 1)


def test_an_interruption_by_the_user_is_none_of_the_clock() -> None:
    def interrupts(_number: int) -> Story:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        played(FakeRunner(interrupts, always(None)))


def test_only_what_the_environment_broke_is_tried_again_and_only_once() -> None:
    troubles = {1: Trouble.ENVIRONMENT, 3: Trouble.HARNESS, 4: Trouble.ENVIRONMENT, 5: Trouble.ENVIRONMENT}
    runner = FakeRunner(always(quiet()), troubles.get)
    night = played(runner)
    tries = [run.tries for run in night.runs]
    assert tries[:3] == [2, 1, 2]
    made = summary_of(night, frozenset())
    assert (made.again, len(made.errors)) == (2, 2)
    assert made.exit_code is ExitCode.AS_EXPECTED  # there is no finding; errors are told


def test_a_night_of_which_the_environment_breaks_every_run_is_over_soon() -> None:
    runner = FakeRunner(always(quiet()), always(Trouble.ENVIRONMENT))
    with pytest.raises(
        EnvironmentNotReady, match="3 runs in a row came to nothing, and no other: environment"
    ):
        played(runner, minutes=60.0)
    assert len(runner.jobs) == 2 * BROKEN_AT_MOST


def test_a_night_that_was_good_so_far_goes_on_when_the_environment_breaks() -> None:
    runner = FakeRunner(always(quiet()), lambda number: None if number == 1 else Trouble.ENVIRONMENT)
    night = played(runner, minutes=10.0)
    assert len(night.runs) > 2 * BROKEN_AT_MOST


def test_a_night_in_which_everything_breaks_for_good_ends_and_tells_what_it_found() -> None:
    runner = FakeRunner(always(half_lost()), lambda number: None if number == 1 else Trouble.ENVIRONMENT)
    night = played(runner, minutes=600.0)
    assert len(night.runs) == 1 + BROKEN_FOR_GOOD
    made = summary_of(night, frozenset())
    assert made.exit_code is ExitCode.NOT_AS_EXPECTED
    assert "it ended before its time: the environment broke whatever began" in list(lines(made))
    assert made.as_json()["scenarios"]["gave_up"] is True


def test_a_run_that_cannot_even_begin_is_tried_again_and_counted() -> None:
    def full_disk(number: int) -> Story:
        if number in (2, 4, 5):
            raise EnvironmentNotReady("no run folder can be made", "Choose another place.")
        return quiet()

    night = played(FakeRunner(full_disk, always(None)))
    assert [run.tries for run in night.runs[:4]] == [1, 2, 2, 1]
    never_begun = night.runs[2]
    assert never_begun.not_judged == "environment: no run folder can be made"
    assert (never_begun.error, never_begun.findings) == (ExitCode.ENVIRONMENT, ())
    assert summary_of(night, frozenset()).again == 2


def test_where_the_second_try_is_cut_off_the_first_one_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(night_module, "CUT_OFF_S", 180 - 0.2)
    runner = FakeRunner(always(quiet()), always(Trouble.ENVIRONMENT))

    def second_never_ends(job: Job, slot: object = None) -> Report:
        if not runner.jobs:
            return FakeRunner.run(runner, job, slot)
        assert runner.interrupted.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", second_never_ends)
    night = played(runner)
    assert (len(night.runs), night.cut_off) == (1, 1)
    assert night.runs[0].error is ExitCode.ENVIRONMENT


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        ({"longest": "1s"}, r"nightly-7-20 is expected to take \d+ s, `longest` are 1 s"),
        ({"dimensions": {"client": {"java pop": 1}}}, "nightly-7-20"),
    ],
)
def test_a_profile_that_permits_nothing_is_refused(
    profile: dict[str, Any], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(night_module, "DRAWS_FOR_ONE", 20)
    runner = FakeRunner(always(quiet()), always(None))
    with pytest.raises(UsageProblem, match=f"of 20 scenarios none can be run .*{text}"):
        played(runner, profile=Profile.model_validate(profile))
    assert runner.jobs == []


def test_nobody_goes_on_drawing_where_there_is_nothing_to_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(night_module, "DRAWS_FOR_ONE", 20)
    runner = FakeRunner(always(quiet()), always(None))
    night = Night(7, Profile.model_validate({"longest": "1s"}), 3.0, Shard(), clock=lambda: 0.0, parallel=3)
    with pytest.raises(UsageProblem):
        night.play(cast(Runner, runner), lambda _run: None)
    assert night.passed_over == 20 + 2


def test_an_invariant_that_crashes_ends_no_night_and_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_unused: object) -> None:
        raise ValueError("oh")

    monkeypatch.setattr(run_module, "findings", crash)
    made = summary((quiet(), None))
    assert made.not_judged[0].not_judged == "an invariant failed: ValueError: oh"
    assert made.exit_code is ExitCode.HARNESS


def test_what_fails_in_one_worker_ends_the_night() -> None:
    def fails(_number: int) -> Story:
        raise UsageProblem("no such version")

    runner = FakeRunner(fails, always(None))
    with pytest.raises(UsageProblem):
        played(runner)
    assert runner.interrupted.is_set()


# How it ends -------------------------------------------------------------------------------------------


def test_new_findings_alone_decide_the_exit_code() -> None:
    found = summary((half_lost(), None), (quiet(), None))
    assert found.exit_code is ExitCode.NOT_AS_EXPECTED
    (item,) = found.found
    assert (len(item.runs), item.known) == (1, False)
    known = summary((half_lost(), None), known=frozenset({item.code}))
    assert (known.exit_code, len(known.found), known.new) == (ExitCode.AS_EXPECTED, 1, ())


def test_what_was_not_reached_is_neither_finding_nor_error() -> None:
    made = summary((half_lost(), Trouble.PRECONDITION), (quiet(), None))
    assert (made.found, made.errors, len(made.inconclusive)) == ((), [], 1)
    assert made.exit_code is ExitCode.AS_EXPECTED


def test_where_nothing_was_judged_the_exit_code_says_why() -> None:
    assert summary((quiet(), Trouble.ENVIRONMENT)).exit_code is ExitCode.ENVIRONMENT
    assert summary((quiet(), Trouble.PRECONDITION)).exit_code is ExitCode.INCONCLUSIVE
    assert summary().exit_code is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize("trouble", [Trouble.ENVIRONMENT, Trouble.HARNESS])
def test_an_error_neither_hides_a_finding_nor_is_one(trouble: Trouble) -> None:
    assert summary((quiet(), None), (quiet(), trouble)).exit_code is ExitCode.AS_EXPECTED
    assert summary((half_lost(), None), (quiet(), trouble)).exit_code is ExitCode.NOT_AS_EXPECTED


def test_one_cause_in_many_runs_is_one_finding() -> None:
    made = summary(*[(half_lost(), None)] * 3)
    (item,) = made.found
    assert len(item.runs) == 3


def test_a_run_tells_why_it_says_nothing() -> None:
    (run,) = night_of((quiet(), Trouble.PRECONDITION)).runs
    assert isinstance(run, NightlyRun)
    assert run.not_judged == "precondition: it is precondition"
