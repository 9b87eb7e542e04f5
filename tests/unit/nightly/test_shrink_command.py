"""`rocketchaos shrink` of a run, without a cluster: a recorded run answers."""

from __future__ import annotations

import dataclasses
import json
import shutil
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rocketchaos.harness.cli import main as cli
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.nightly import smallest as smallest_module
from rocketchaos.harness.nightly import trial as trial_module
from rocketchaos.harness.nightly.restate import NOT_ALL_TRIED, NOT_MEASURED
from rocketchaos.harness.nightly.trial import TimeLimit
from rocketchaos.harness.reporting.folder import load_report
from rocketchaos.harness.scenario import load_scenario
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.nightly.recorded import RUN, SILENT, recorded_runner, shows

NAME = "wanted-but-not-delivered-filtered-by-client-tags-same-group-different-tags"


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    return recorded_runner(monkeypatch, tmp_path)


def steps_of(folder: Path) -> list[str]:
    """Of the scenario that was written."""
    (file,) = folder.glob("*.scenario.yaml")
    return [step.word for step in load_scenario(file).steps]


def test_the_result_is_a_small_scenario_that_says_what_it_shows(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == ExitCode.AS_EXPECTED
    scenario = load_scenario(tmp_path / f"{NAME}.scenario.yaml")
    assert {step.word for step in scenario.steps} >= {"send"}
    assert len(scenario.consumers) == 2
    assert scenario.topics["orders"].queues == 1
    assert [step.word for step in scenario.steps] == ["start", "bind", "send"]
    assert [check.word for check in scenario.anomaly] == ["undelivered"]
    assert scenario.expected == "reproduced"
    assert "Its checks held in 2 of 2 runs." in scenario.description
    # Smaller ones of a night's are none of its runs: neither the next night nor a store takes them for such.
    assert {options.runs for options in runner.options_of} == {Path("runs-shrinking")}
    text = capsys.readouterr().out
    assert f" candidates, {len(runner.jobs)} runs; the original shows it in 2 of 2, and the smallest" in text
    assert f"Wrote {NAME}.scenario.yaml: rocketchaos reproduce {NAME}.scenario.yaml\n" in text


def test_a_run_without_a_finding_is_refused(runner: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["shrink", str(SILENT)]) == ExitCode.USAGE
    assert cli.main(["shrink", str(RUN), "--finding", "cross"]) == ExitCode.USAGE
    assert cli.main(["shrink", "nowhere"]) == ExitCode.USAGE
    text = capsys.readouterr().err
    assert "shows no finding" in text
    assert "There are: wanted-but-not-delivered" in text
    assert "there is no run folder nowhere" in text
    assert runner.jobs == []


def test_what_does_not_show_again_is_inconclusive_and_writes_nothing(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner, "answers", staticmethod(lambda _number, _scenario: False))
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == ExitCode.INCONCLUSIVE
    assert "not one of 8 further runs shows it\n  Raise --repeat." in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# Errors ------------------------------------------------------------------------------------------------


def test_what_the_environment_broke_is_tried_once_more(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = lambda number: Trouble.ENVIRONMENT if number % 2 else None  # noqa: E731
    monkeypatch.setattr(runner, "troubles", staticmethod(odd))
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == ExitCode.AS_EXPECTED
    assert steps_of(tmp_path) == ["start", "bind", "send"]
    assert f", {len(runner.jobs) // 2} of them errors; " in capsys.readouterr().out
    scenarios = [job.scenario.source for job in runner.jobs]
    assert scenarios[::2] == scenarios[1::2]


@pytest.mark.parametrize(
    ("trouble", "tries"), [(Trouble.ENVIRONMENT, 2), (Trouble.HARNESS, 1), (Trouble.USAGE, 1)]
)
def test_a_candidate_that_can_not_be_run_shows_nothing(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trouble: Trouble, tries: int
) -> None:
    def without_bind(number: int) -> Trouble | None:
        words = {step.word for step in runner.jobs[number - 1].scenario.steps}
        return None if "bind" in words else trouble

    monkeypatch.setattr(runner, "troubles", staticmethod(without_bind))
    monkeypatch.setattr(trial_module, "FAILURES_IN_A_ROW", 100)
    assert cli.main(["shrink", str(RUN), "--repeat", "1"]) == ExitCode.AS_EXPECTED
    assert "bind" in steps_of(tmp_path)
    failed = [job.scenario.source for number, job in enumerate(runner.jobs, 1) if without_bind(number)]
    assert failed
    assert all(failed.count(source) == tries for source in failed)


def test_a_smallest_one_that_hardly_shows_it_again_is_given_up(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def by_luck(_number: int, scenario: Scenario) -> bool:
        is_stated = "undelivered: {group" in scenario.source
        return shows(scenario) and not (is_stated and scenario.topics["orders"].queues == 1)

    monkeypatch.setattr(runner, "answers", staticmethod(by_luck))
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == ExitCode.AS_EXPECTED
    scenario = load_scenario(tmp_path / f"{NAME}.scenario.yaml")
    assert scenario.topics["orders"].queues > 1
    assert "Its checks held in 2 of 2 runs." in scenario.description
    assert "hardly showed it again" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("trouble", "code", "runs"),
    [
        (Trouble.ENVIRONMENT, ExitCode.ENVIRONMENT, 2),
        (Trouble.HARNESS, ExitCode.HARNESS, 1),
        (Trouble.USAGE, ExitCode.USAGE, 1),
    ],
)
def test_an_original_that_can_not_be_run_ends_it(
    runner: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    trouble: Trouble,
    code: ExitCode,
    runs: int,
) -> None:
    monkeypatch.setattr(runner, "troubles", staticmethod(lambda _number: trouble))
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == code
    assert len(runner.jobs) == runs
    assert "a run failed: no disk" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_run_any_more_the_smallest_one_so_far_is_written(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fails = lambda number: Trouble.ENVIRONMENT if number >= 12 else None  # noqa: E731
    monkeypatch.setattr(runner, "troubles", staticmethod(fails))
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == ExitCode.ENVIRONMENT
    assert len(runner.jobs) == 11 + 2 * trial_module.FAILURES_IN_A_ROW
    require_stated_so_far(tmp_path, capsys.readouterr().err)


def require_stated_so_far(folder: Path, text: str) -> None:
    """What was written is smaller, and states the finding by the finding's own checks."""
    scenario = load_scenario(folder / f"{NAME}.scenario.yaml")
    assert len(scenario.steps) < len(load_report(RUN).scenario.steps)
    assert [(check.word, check.because) for check in scenario.anomaly] == [  # type: ignore[attr-defined]
        ("undelivered", "filtered-by-client")
    ]
    assert scenario.expected == "measured"
    assert "Shrunk from same-group-different-tags, RocketMQ 4.9.4, where 2 of 2 runs" in scenario.description
    assert scenario.description.rstrip().endswith(f"{NOT_MEASURED} {NOT_ALL_TRIED}")
    assert f"Wrote {NAME}.scenario.yaml: the smallest one so far" in text


@pytest.mark.parametrize("ending", ["in the search", "while it is measured"])
def test_an_interruption_leaves_the_smallest_one_so_far(
    runner: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    ending: str,
) -> None:
    def before(number: int, _interrupted: threading.Event) -> None:
        stated = "undelivered: {group" in runner.jobs[-1].scenario.source
        if stated if ending == "while it is measured" else number == 12:
            raise KeyboardInterrupt

    monkeypatch.setattr(runner, "before", staticmethod(before))
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == ExitCode.INTERRUPTED
    require_stated_so_far(tmp_path, capsys.readouterr().err)


def test_what_is_written_early_is_stated_as_it_shows_it_and_not_as_a_refused_candidate_did(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A candidate shows it once of twice, which is too seldom; then comes the interruption."""

    def answers(number: int, scenario: Scenario) -> bool:
        return shows(scenario) if number <= 2 else number == 3

    def before(number: int, _interrupted: threading.Event) -> None:
        if number == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(runner, "answers", staticmethod(answers))
    monkeypatch.setattr(runner, "before", staticmethod(before))
    assert cli.main(["shrink", str(RUN), "--repeat", "2"]) == ExitCode.INTERRUPTED
    assert steps_of(tmp_path) == [step.word for step in load_report(RUN).scenario.steps]


# Time and place ----------------------------------------------------------------------------------------


def runs_until_it_is_cut(_number: int, interrupted: threading.Event) -> None:
    """As a run that hangs, which only an interruption ends."""
    assert interrupted.wait(20)
    raise KeyboardInterrupt


def test_the_time_bounds_the_measuring_of_the_original(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trial_module, "TEAR_DOWN_S", 29.8)
    monkeypatch.setattr(runner, "before", staticmethod(runs_until_it_is_cut))
    assert cli.main(["shrink", str(RUN), "--minutes", "0.5"]) == ExitCode.INCONCLUSIVE
    assert "the time was up, and not one of 0 further runs had shown it" in capsys.readouterr().err
    assert len(runner.jobs) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_time_bounds_a_candidate_and_what_is_known_by_then_is_written(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now_s = [0.0]

    def before(number: int, _interrupted: threading.Event) -> None:
        if number == 12:
            now_s[0] = 31.0
            raise KeyboardInterrupt

    monkeypatch.setattr(smallest_module, "TimeLimit", partial(TimeLimit, clock=lambda: now_s[0]))
    monkeypatch.setattr(runner, "before", staticmethod(before))
    assert cli.main(["shrink", str(RUN), "--repeat", "2", "--minutes", "0.5"]) == ExitCode.AS_EXPECTED
    assert len(runner.jobs) == 12
    scenario = load_scenario(tmp_path / f"{NAME}.scenario.yaml")
    assert len(scenario.steps) < len(load_report(RUN).scenario.steps)
    assert scenario.expected == "measured"
    assert scenario.description.rstrip().endswith(f"{NOT_MEASURED} {NOT_ALL_TRIED}")
    text = capsys.readouterr().out
    assert "by its own checks, not measured; the time was up before everything smaller had been tried" in text


def test_some_time_is_kept_for_the_measuring_of_the_result(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now_s = [0.0]

    def before(_number: int, _interrupted: threading.Event) -> None:
        now_s[0] += 1.0

    monkeypatch.setattr(trial_module, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    monkeypatch.setattr(smallest_module, "TimeLimit", partial(TimeLimit, clock=lambda: now_s[0]))
    monkeypatch.setattr(runner, "before", staticmethod(before))
    assert cli.main(["shrink", str(RUN), "--repeat", "3", "--minutes", "0.5"]) == ExitCode.AS_EXPECTED
    (file,) = tmp_path.iterdir()
    said = load_scenario(file).description
    assert "Its checks held in 3 of 3 runs." in said
    assert NOT_ALL_TRIED in said
    assert now_s[0] <= 30 - trial_module.TEAR_DOWN_S


def test_a_place_that_can_not_be_written_is_said_before_anything_runs(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "x.yaml"):
        assert cli.main(["shrink", str(RUN), "--out", str(place)]) == ExitCode.ENVIRONMENT
        assert f"{place} can't be written" in capsys.readouterr().err
    assert runner.jobs == []


def test_a_place_that_was_tried_has_nothing_in_it_before_there_is_something(
    runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found: list[list[Path]] = []
    monkeypatch.setattr(
        runner, "before", staticmethod(lambda *_unused: found.append(list((tmp_path / "new").iterdir())))
    )
    file = tmp_path / "new" / "x.scenario.yaml"
    assert cli.main(["shrink", str(RUN), "--repeat", "1", "--out", str(file)]) == ExitCode.AS_EXPECTED
    assert found
    assert not any(found)
    load_scenario(file)


# As it was ---------------------------------------------------------------------------------------------


def test_what_options_had_given_the_run_is_in_the_result(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(RUN, run)
    record = json.loads((run / "run.json").read_text())
    changed = {"timing": "faithful", "chosen_client": "java@4.9.3", "rocketmq": "5.3.3", "seed": 11}
    cluster = {**(record.get("cluster") or {}), "kind": "containers"}
    (run / "run.json").write_text(json.dumps({**record, **changed, "cluster": cluster}))
    file = tmp_path / "x.scenario.yaml"
    assert cli.main(["shrink", str(run), "--repeat", "1", "--out", str(file)]) == ExitCode.AS_EXPECTED
    (options,) = runner.options_of
    assert dataclasses.replace(options, progress=None).timing == "faithful"
    assert (options.version, options.on, options.seed) == ("5.3.3", "containers", 11)
    first = runner.jobs[0].scenario
    assert {consumer.client for consumer in first.consumers.values()} == {"java@4.9.3"}
    assert load_scenario(file).timing == "faithful"
    assert f"rocketchaos reproduce {file} --rocketmq 5.3.3 --on containers" in capsys.readouterr().out
