"""`--junit FILE`: JUnit XML, which every build server reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath
from xml.etree import ElementTree

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.core.text import printable
from rocketchaos.harness.plan.matrix import LeftOut
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.cells import cell_text
from rocketchaos.harness.reporting.parts.findings import finding_lines
from rocketchaos.harness.reporting.parts.junit_file import write_junit_file
from rocketchaos.harness.reporting.parts.shares import attempts
from rocketchaos.harness.reporting.parts.verdict import reason_and_hint, sentence

_NO_EVIDENCE = (OutcomeKind.INCONCLUSIVE, OutcomeKind.ERROR)


class JUnitReporter:
    """Tells a build server: a test case a run, in one suite.

    A run whose outcome is not the expected one is a failure; an inconclusive one, or one that the environment
    or the harness broke, is an error. Where nothing is expected it is a success, whose outcome is measured.
    What was left out is skipped where it is impossible, and an error where its RocketMQ can't be had.
    """

    def __init__(self, file: Path, left_out: Sequence[LeftOut] = (), *, cells: bool = False) -> None:
        """`cells`: the runs are of a matrix, so that the names of tests have their cells."""
        self._file = file
        self._left_out = left_out
        self._cells = cells

    def report(self, runs: Sequence[Report]) -> None:
        """Write the file.

        Raises:
            EnvironmentNotReady: it can't be written.
        """
        write_junit_file(_suites(runs, self._left_out, self._cells), self._file)


def _suites(runs: Sequence[Report], left_out: Sequence[LeftOut], cells: bool) -> ElementTree.Element:
    verdicts = Counter([*map(_verdict, runs), *map(_verdict_of_left_out, left_out)])
    totals = {
        "tests": str(len(runs) + len(left_out)),
        "failures": str(verdicts["failure"]),
        "errors": str(verdicts["error"]),
        "skipped": str(verdicts["skipped"]),
        "time": f"{sum(run.seconds for run in runs):.3f}",
    }
    suites = ElementTree.Element("testsuites", {"name": "rocketchaos", **totals})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "rocketchaos", **totals})
    seen: Counter[tuple[str, str]] = Counter()
    for run in runs:
        place, name = _class_name(run), printable(run.scenario.title)
        if cells:
            name += f" [{cell_text(run)}]"
        seen[place, name] += 1
        number = seen[place, name]
        # The seed is no part of the name: a build server follows a test by its name from build to build.
        suite.append(_case(run, place, name if number == 1 else f"{name} (run {number})"))
    for one in left_out:
        suite.append(_case_of_left_out(one))
    return suites


def _verdict_of_left_out(one: LeftOut) -> str:
    return "skipped" if one.code is ExitCode.AS_EXPECTED else "error"


def _case_of_left_out(one: LeftOut) -> ElementTree.Element:
    name = f"{one.scenario} [{one.client} on RocketMQ {one.rocketmq}]"
    case = ElementTree.Element(
        "testcase", {"classname": one.scenario, "name": printable(name), "time": "0.000"}
    )
    verdict = _verdict_of_left_out(one)
    kind = {"type": one.code.name.lower()} if verdict == "error" else {}
    ElementTree.SubElement(case, verdict, {**kind, "message": printable(one.reason)})
    return case


def _class_name(run: Report) -> str:
    """`<folder of the scenario>/<scenario>`."""
    theme = PurePath(run.scenario.file).parent.name
    return f"{printable(theme)}/{run.scenario.name}" if theme else run.scenario.name


def _verdict(run: Report) -> str:
    if not run.outcome.wrong:
        return "success"
    return "error" if run.outcome.kind in _NO_EVIDENCE else "failure"


def _case(run: Report, place: str, name: str) -> ElementTree.Element:
    case = ElementTree.Element("testcase", {"classname": place, "name": name, "time": f"{run.seconds:.3f}"})
    properties = ElementTree.SubElement(case, "properties")
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
    for key, value in known.items():
        text = "" if value is None else printable(value)
        ElementTree.SubElement(properties, "property", {"name": key, "value": text})
    verdict = _verdict(run)
    if verdict != "success":
        kind = run.outcome.trouble.value if run.outcome.trouble else run.outcome.kind.value
        problem = ElementTree.SubElement(case, verdict, {"type": kind, "message": sentence(run)})
        problem.text = _text(run)
    return case


def _text(run: Report) -> str:
    reason, hint = reason_and_hint(run)
    lines = [
        reason,
        *([hint] if hint else []),
        *finding_lines(run),
        "",
        f"Reproduce: {run.reproduce_command}",
    ]
    return printable("\n".join(lines), keep="\n")
