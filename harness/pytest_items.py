"""Scenarios as pytest's tests, and the fixture `rocketmq`; `rocketchaos_pytest` leads here when needed.

How a run ends in pytest's words: as expected is passed, not as expected is failed. An inconclusive run, or one
that the environment or the harness broke, is an *error*, never failed or skipped: it says nothing about what
was to be tested. pytest knows errors in a test's setup only. So a scenario runs in its item's setup, where an
error is one, and the call just holds the outcome against what is expected. Where a scenario expects nothing of
this client and version, whatever it measured is passed, but an error.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import pytest

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import ExitCode, RocketchaosError
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.core.run_folder import runs_folder
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.builds import version_of
from rocketchaos.harness.jars.releases import Need
from rocketchaos.harness.live import LiveRun
from rocketchaos.harness.plan.feasibility import why_not
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.plan.matrix import Matrix, jobs_of, parse_matrix, refuse_two_versions
from rocketchaos.harness.plan.obtainable import why_unobtainable
from rocketchaos.harness.plan.options import DEFAULT_VERSION, Options
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.findings import finding_lines
from rocketchaos.harness.reporting.parts.verdict import reason_and_hint, sentence
from rocketchaos.harness.rocketmq import versions
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.file_text import read_text

LOG = logging.getLogger("rocketchaos")
"""Says what takes time; `--log-cli-level=INFO` shows it."""

_RUNNER = pytest.StashKey[Runner]()
_ABSENT = pytest.StashKey[Mapping[Need, RocketchaosError]]()
_MARK = re.compile(r"[A-Za-z]\w*(-\w+)*")


def matrix_of(words: Sequence[str]) -> Matrix:
    """The matrix of `--matrix`, whose words may stand in one argument.

    Raises:
        UsageProblem: they can't be meant so.
    """
    return parse_matrix([word for argument in words for word in argument.split()])


def runner_of(config: pytest.Config) -> Runner:
    """The session's runner: its clusters are shared by all tests of this process, and end with it.

    Raises:
        UsageProblem: `--rocketmq` is no version.
    """
    if _RUNNER not in config.stash:
        version = _version(config)
        versions.parse(version)
        chosen = config.getoption("--runs-dir")
        runs = runs_folder() if chosen is None else Path(chosen)
        config.stash[_RUNNER] = Runner(
            Options(
                version=version,
                on=ClusterKind(config.getoption("--on") or ClusterKind.EMBEDDED),
                dashboard=config.getoption("--dashboard"),
                timing=config.getoption("--timing"),
                runs=config.invocation_params.dir / runs,
                seed=config.getoption("--rocketchaos-seed"),
                progress=LOG.info,
            )
        )
    return config.stash[_RUNNER]


def _version(config: pytest.Config) -> str:
    """The version of `--rocketmq`, or the name of the build in that folder (from where pytest was called)."""
    chosen = config.getoption("--rocketmq")
    return version_of(chosen, config.invocation_params.dir) if chosen else DEFAULT_VERSION


class ScenarioFile(pytest.File):
    """A `*.scenario.yaml`, validated when it is collected: an invalid one never starts anything."""

    def collect(self) -> Iterator[ScenarioItem]:
        """Its one scenario, in every cell of the matrix where there is one."""
        folder = self.config.invocation_params.dir
        shown = self.path.relative_to(folder) if self.path.is_relative_to(folder) else self.path
        scenario = parse_scenario(read_text(self.path), str(shown))
        version = _version(self.config)
        words = self.config.getoption("--matrix")
        if not words:
            yield ScenarioItem.from_parent(self, name=scenario.name, job=Job(scenario, version))
            return
        matrix = matrix_of(words)
        refuse_two_versions(matrix, self.config.getoption("--rocketmq"))
        for job in jobs_of(scenario, matrix.cells(version)):
            name = f"{scenario.name}[{job.clients}-{job.rocketmq}]"
            yield ScenarioItem.from_parent(self, name=name, job=job)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """What is wrong with the file, and nothing of how that was found."""
        if isinstance(excinfo.value, RocketchaosError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class ScenarioItem(pytest.Item):
    """One scenario on one version, run once."""

    def __init__(self, *, job: Job, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.job = job
        self.scenario = scenario = job.scenario
        self.run_report: Report | None = None
        self.extra_keyword_matches.update((scenario.title, *scenario.marks))
        for mark in scenario.marks:
            if _MARK.fullmatch(mark):
                # Registered, so that `--strict-markers` lets it pass.
                self.config.addinivalue_line("markers", f"{mark}: of a scenario")
                self.add_marker(mark)

    def setup(self) -> None:
        """Run it; see the module for why here."""
        problem: RocketchaosError | None = None
        try:
            runner = runner_of(self.config)
            reason = why_not(self.scenario, self.job.rocketmq, runner.options.on)
            if reason is not None:
                pytest.skip(reason)
            self._require_obtainable(runner.options.on)
            self.run_report = report = runner.run(self.job)
        except RocketchaosError as error:
            problem = error
        if problem is not None:  # out here, or pytest would tell it twice, as the cause of itself
            _end_with(str(problem))
        self.user_properties += properties(report)
        if report.outcome.wrong and report.outcome.kind in (OutcomeKind.INCONCLUSIVE, OutcomeKind.ERROR):
            _end_with(explanation(report))

    def _require_obtainable(self, kind: ClusterKind) -> None:
        """An error if its RocketMQ, or a client's, isn't available: it was asked for, and says nothing."""
        found = why_unobtainable(self.job, kind, self.config.stash.get(_ABSENT, {}))
        if found is not None:
            if found.left_out.code is ExitCode.AS_EXPECTED:
                pytest.skip(found.left_out.reason)
            raise found.error

    def runtest(self) -> None:
        """Hold the outcome against what is expected."""
        assert self.run_report is not None
        if self.run_report.outcome.wrong:
            _end_with(explanation(self.run_report))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it stands."""
        line = self.scenario.line_of("name")
        return self.path, None if line is None else line - 1, self.name


def _end_with(text: str) -> NoReturn:
    """Fail with this text alone; in a setup this is an error."""
    pytest.fail(text, pytrace=False)


def explanation(report: Report) -> str:
    """Verdict, what speaks against it, the run folder, and the command that runs it again."""
    reason, hint = reason_and_hint(report)
    lines = [sentence(report), reason, hint, *finding_lines(report), f"Run: {report.folder}"]
    return "\n".join([*filter(None, lines), f"Reproduce: {report.reproduce_command}"])


def properties(report: Report) -> list[tuple[str, object]]:
    """What JUnit XML gets of a run."""
    return [
        ("outcome", report.outcome.kind.value),
        ("seed", report.record.get("seed", "")),
        ("run_dir", str(report.folder)),
        ("history", str(report.folder / "events.jsonl")),
    ]


@contextmanager
def live_run(request: pytest.FixtureRequest) -> Iterator[LiveRun]:
    """The run behind the fixture `rocketmq`; it ends with the test."""
    node = request.node
    documentation = str(getattr(getattr(node, "obj", None), "__doc__", None) or "").strip()
    run = LiveRun(runner_of(request.config), node.name, documentation.partition("\n")[0] or node.nodeid)
    try:
        yield run
    finally:
        report = run.finish()
        if report is not None:
            node.user_properties += properties(report)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put time where it belongs, and make an error of what would be a failure."""
    report = yield
    if isinstance(item, ScenarioItem) and item.run_report is not None:
        # The run is what the test consists of, though it takes place in the setup.
        if report.when == "setup" and report.passed:
            report.duration = max(0.0, report.duration - item.run_report.seconds)
        elif report.when == "call":
            report.duration += item.run_report.seconds
    if report.when == "call" and call.excinfo is not None and call.excinfo.errisinstance(RocketchaosError):
        # In a test with the fixture: a step or a check that could not be done. Errors outside of the call are
        # the only ones that pytest, its JUnit XML and all that build on them tell apart from failures.
        report.when = "setup"
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Ask for every version that the scenarios need, and fetch those that are there, several at a time."""
    options = session.config.option
    stopped = session.testsfailed and not options.continue_on_collection_errors
    items = [item for item in getattr(session, "items", ()) if isinstance(item, ScenarioItem)]
    if not items or options.collectonly or stopped:
        return
    with suppress(RocketchaosError):  # every scenario reports it itself
        runner = runner_of(session.config)
        kind = runner.options.on
        jobs = [item.job for item in items if why_not(item.scenario, item.job.rocketmq, kind) is None]
        absent = session.config.stash[_ABSENT] = runner.absences(jobs)
        runner.fetch([job for job in jobs if why_unobtainable(job, kind, absent) is None])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End what was started, after the last fixture has."""
    runner = session.config.stash.get(_RUNNER, None)
    if runner is not None:
        runner.close()
