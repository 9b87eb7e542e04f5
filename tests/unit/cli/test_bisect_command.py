"""`rocketchaos bisect` and `claims bisect`: what is asked and told. Nothing is started."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rocketchaos.harness.claims.verdicts import Stance
from rocketchaos.harness.cli import bisect as command
from rocketchaos.harness.cli.main import main
from rocketchaos.harness.cli.matrix_option import one_option_a_word
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.releases import Release
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.rocketmq import versions
from tests.unit.jars.made_build import made_build
from tests.unit.reporting.reports import good

LACKS = ("rocketmq-namesrv",)
KNOWN = [
    *(Release(version, cached=True) for version in ("4.9.4", "5.0.0", "5.1.1")),
    Release("5.1.3", cached=False, lacks=LACKS),
    *(Release(version, cached=True) for version in ("5.1.4", "5.4.0", "5.5.0")),
]
EndsAs = Callable[[str], OutcomeKind]


def since(first: str) -> EndsAs:
    """Reproduced from this version on, before it not."""
    return lambda version: (
        OutcomeKind.REPRODUCED
        if versions.parse(version) >= versions.parse(first)
        else OutcomeKind.NOT_REPRODUCED
    )


@pytest.fixture
def ends_as(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[EndsAs], list[Job]]:
    """Say how runs end, by their version; the jobs that are run."""
    monkeypatch.setattr(command, "releases", lambda _progress: (KNOWN, None))
    monkeypatch.chdir(tmp_path)
    run: list[Job] = []

    def play(of_version: EndsAs) -> list[Job]:
        def run_all(_self: Runner, jobs: Sequence[Job], _parallel: int | None) -> Iterator[Report]:
            for job in jobs:
                run.append(job)
                report = good(tmp_path / "runs" / str(len(run)), rocketmq=job.rocketmq)
                yield replace(report, outcome=replace(report.outcome, kind=of_version(job.rocketmq)))

        monkeypatch.setattr(Runner, "run_all", run_all)
        return run

    return play


def test_the_first_version_is_reported_with_what_is_not_known(
    ends_as: Callable[[EndsAs], list[Job]], capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = ends_as(since("5.1.4"))
    assert main(["bisect", "same-group-different-tags"]) == ExitCode.AS_EXPECTED
    shown = capsys.readouterr()
    assert (
        "RocketMQ 5.1.4 is the first that answers differently, or 5.1.3, of which nothing is known"
        in shown.out
    )
    assert "not-reproduced up to 5.1.1, reproduced from 5.1.4 on" in shown.out
    assert "4 of 4 reproduced (51 to 100 %)" in shown.out
    assert "left out: RocketMQ 5.1.3: there is no rocketmq-namesrv of it" in shown.err
    assert {job.rocketmq for job in jobs} <= {item.version for item in KNOWN if not item.lacks}


def test_as_json(ends_as: Callable[[EndsAs], list[Job]], capsys: pytest.CaptureFixture[str]) -> None:
    ends_as(since("5.5.0"))
    assert main(["bisect", "same-group-different-tags", "--from", "5.0.0", "--json"]) == ExitCode.AS_EXPECTED
    shown = json.loads(capsys.readouterr().out)
    (scenario,) = shown["scenarios"]
    assert (shown["ending"], shown["first"]) == ("found", ["5.5.0"])
    assert scenario["changes"] == [{"before": "5.4.0", "first": "5.5.0", "unknown": []}]
    assert {item["rocketmq"]: len(item["runs"]) for item in scenario["versions"]}["5.5.0"] == 4
    assert scenario["left_out"] == [{"rocketmq": "5.1.3", "reason": "there is no rocketmq-namesrv of it"}]


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        (since("4.9.0"), ExitCode.NOT_AS_EXPECTED, "no difference on RocketMQ 4.9.4, 5.0.0, 5.1.1, 5.1.4"),
        (
            lambda version: since("5.0.0")(version) if version < "5.4.0" else OutcomeKind.INCONCLUSIVE,
            ExitCode.NOT_AS_EXPECTED,
            "the answer changes more than once, on RocketMQ 5.0.0, 5.4.0",
        ),
        (lambda _: OutcomeKind.ERROR, ExitCode.INCONCLUSIVE, "undecided"),
    ],
)
def test_other_endings_and_their_codes(
    ends_as: Callable[[EndsAs], list[Job]],
    capsys: pytest.CaptureFixture[str],
    changes: EndsAs,
    code: ExitCode,
    said: str,
) -> None:
    ends_as(changes)
    assert main(["bisect", "same-group-different-tags"]) == code
    assert said in capsys.readouterr().out


def test_a_scenario_of_some_versions_is_asked_of_all(
    ends_as: Callable[[EndsAs], list[Job]], capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = ends_as(since("5.1.4"))
    assert main(["bisect", "retries-filtered-by-sql", "--all"]) == ExitCode.AS_EXPECTED
    assert (
        "retries-filtered-by-sql states RocketMQ <5.1.4; the bisect asks all versions"
        in capsys.readouterr().err
    )
    assert [job.rocketmq for job in jobs[::4]] == ["4.9.4", "5.0.0", "5.1.1", "5.1.4", "5.4.0", "5.5.0"]
    assert '# rocketmq: "<5.1.4"\n' in jobs[0].scenario.source


def test_builds_are_asked_behind_the_releases(
    ends_as: Callable[[EndsAs], list[Job]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made_build(tmp_path / "mine", "5.5.1")
    made_build(tmp_path / "yours", "5.5.1", content="changed")
    ends_as(since("5.5.1"))
    words = ["bisect", "--from", "5.4.0", "--builds", "mine", "./yours", "--all", "same-group-different-tags"]
    assert main(words) == ExitCode.AS_EXPECTED
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0].partition("+")[0] for line in lines[1:5]] == ["5.4.0", "5.5.0", "5.5.1", "5.5.1"]
    assert "is the first that answers differently" in lines[-2]


def test_without_a_network_those_in_the_cache_are_asked(
    ends_as: Callable[[EndsAs], list[Job]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends_as(since("5.5.0"))
    unreached = EnvironmentNotReady("Maven Central could not be reached")
    monkeypatch.setattr(command, "releases", lambda _progress: (KNOWN[:3] + KNOWN[-1:], unreached))
    assert main(["bisect", "same-group-different-tags"]) == ExitCode.AS_EXPECTED
    assert "only releases in the cache: Maven Central could not be reached" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bisect", "same-group-different-tag"], "did you mean `same-group-different-tags`"),
        (["bisect", "same-group-different-tags", "--from", "5.1.3"], "5.1.3 can't run"),
        (["bisect", "same-group-different-tags", "--builds", "./nowhere"], "nowhere doesn't exist"),
        (["bisect", "same-group-different-tags", "--to", "4.9.4"], "needs two versions, and only 4.9.4"),
        (["claims", "bisect", "E"], "`E` is"),
        (["claims", "bisect", "Z99"], "there is no claim `Z99`"),
    ],
)
def test_what_can_t_be_meant_is_said(
    ends_as: Callable[[EndsAs], list[Job]], capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    jobs = ends_as(since("5.5.0"))
    assert main(words) == ExitCode.USAGE
    assert said in capsys.readouterr().err
    assert jobs == []


def test_a_claim_asks_what_speaks_of_it_on_the_oldest_version(
    ends_as: Callable[[EndsAs], list[Job]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of the other scenarios the ends alone: they answer alike there."""
    jobs = ends_as(since("5.1.4"))
    monkeypatch.setattr(command, "seen", lambda report: report)
    monkeypatch.setattr(Report, "not_counted", "", raising=False)

    def stance(report: Report, _claim: str) -> Stance:
        job = jobs[-1]
        changed = (
            report.outcome.kind is OutcomeKind.REPRODUCED and job.scenario.name == "retries-filtered-by-sql"
        )
        return Stance.NOT_SEEN if changed else Stance.FOR

    monkeypatch.setattr(command, "stance_of", stance)
    assert main(["claims", "bisect", "E14"]) == ExitCode.AS_EXPECTED
    assert "E14: RocketMQ 5.1.4 is the first that answers differently" in capsys.readouterr().out
    asked = {(job.scenario.name, job.rocketmq) for job in jobs}
    assert {version for name, version in asked if name == "retries-pass-the-sql"} == {"4.9.4", "5.5.0"}
    assert ("retries-filtered-by-sql", "5.1.4") in asked
    assert "retries-pass-the-sql-anyhow" not in {name for name, _ in asked}


def test_builds_takes_the_folders_that_follow_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    words = ["--builds", "mine", "./yours", "name", "--all"]
    assert one_option_a_word(words) == ["--builds", "mine", "--builds", "./yours", "name", "--all"]
    assert one_option_a_word(["--builds", "a", "dir/x.scenario.yaml"])[-1] == "dir/x.scenario.yaml"
