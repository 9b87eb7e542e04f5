"""`--junit FILE`: JUnit XML, which every build server reads."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.core.text import printable
from rocketchaos.harness.plan.matrix import LeftOut
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.cells import cell_text
from rocketchaos.harness.reporting.parts.findings import finding_lines
from rocketchaos.harness.reporting.parts.junit_file import Case, Problem, write_junit_file
from rocketchaos.harness.reporting.parts.shares import attempts
from rocketchaos.harness.reporting.parts.verdict import reason_and_hint, sentence

_NO_EVIDENCE = (OutcomeKind.INCONCLUSIVE, OutcomeKind.ERROR)


@dataclass(frozen=True, slots=True)
class JUnitReporter:
    """Tells a build server: a test case a run, in one suite.

    A run whose outcome is not the expected one is a failure; an inconclusive one, or one that the environment
    or the harness broke, is an error. Where nothing is expected it is a success, whose outcome is measured.
    A run that was left out counts as skipped if it is impossible, and as an error if its RocketMQ isn't available.
    """

    file: Path
    left_out: Sequence[LeftOut] = ()
    """What was asked for and not run."""
    cells: bool = False
    """The runs are of a matrix, so that the names of tests have their cells."""

    def report(self, runs: Sequence[Report]) -> None:
        """Write the file.

        Raises:
            EnvironmentNotReady: it can't be written.
        """
        cases = [*self._cases(runs), *map(_case_of, self.left_out)]
        write_junit_file(self.file, "rocketchaos", "rocketchaos", cases)

    def _cases(self, runs: Sequence[Report]) -> Iterator[Case]:
        seen: Counter[tuple[str, str]] = Counter()
        for run in runs:
            place, name = _class_name(run), printable(run.scenario.title)
            if self.cells:
                name += f" [{cell_text(run)}]"
            seen[place, name] += 1
            number = seen[place, name]
            # The seed is no part of the name: a build server follows a test by its name from build to build.
            yield _case(run, place, name if number == 1 else f"{name} (run {number})")


def _case_of(left_out: LeftOut) -> Case:
    name = f"{left_out.scenario} [{left_out.client} on RocketMQ {left_out.rocketmq}]"
    if left_out.code is ExitCode.AS_EXPECTED:
        problem = Problem("skipped", left_out.reason)
    else:
        problem = Problem("error", left_out.reason, left_out.code.name.lower())
    return Case(left_out.scenario, name, problems=[problem])


def _class_name(run: Report) -> str:
    """`<folder of the scenario>/<scenario>`."""
    theme = PurePath(run.scenario.file).parent.name
    return f"{printable(theme)}/{run.scenario.name}" if theme else run.scenario.name


def _case(run: Report, place: str, name: str) -> Case:
    known = {
        "outcome": run.outcome.kind.value,
        "expected": run.outcome.expected.value if run.outcome.expected else "measured, not judged",
        "seed": run.record.get("seed"),
        "rocketmq": run.record.get("rocketmq"),
        "client": run.record.get("client"),
        "timing": run.record.get("timing") or run.scenario.timing,
        "attempts": attempts(run),
        "run_dir": run.folder,
    }
    properties = {key: "" if value is None else str(value) for key, value in known.items()}
    return Case(place, name, run.seconds, list(_problems(run)), properties)


def _problems(run: Report) -> Iterator[Problem]:
    if run.outcome.wrong:
        kind = run.outcome.trouble.value if run.outcome.trouble else run.outcome.kind.value
        verdict: Literal["error", "failure"] = "error" if run.outcome.kind in _NO_EVIDENCE else "failure"
        yield Problem(verdict, sentence(run), kind, _text(run))


def _text(run: Report) -> str:
    reason, hint = reason_and_hint(run)
    lines = [
        reason,
        *([hint] if hint else []),
        *finding_lines(run),
        "",
        f"Reproduce: {run.reproduce_command}",
    ]
    return "\n".join(lines)
