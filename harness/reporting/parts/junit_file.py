"""The file of `--junit`, which every build server reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from xml.etree import ElementTree

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.text import printable


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a test case isn't a success."""

    verdict: Literal["failure", "error", "skipped"]
    message: str
    kind: str = ""
    text: str = ""
    """All there is to say, in several lines."""


@dataclass(frozen=True, slots=True)
class Case:
    """A test case; without problems it is a success."""

    place: str
    """What build servers take for its class."""
    name: str
    seconds: float = 0.0
    problems: Sequence[Problem] = ()
    properties: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    output: str = ""

    def has(self, verdict: str) -> bool:
        """Whether a problem makes it that."""
        return any(problem.verdict == verdict for problem in self.problems)


def write_junit_file(file: Path, title: str, suite: str, cases: Sequence[Case]) -> None:
    """Write one suite with these cases; any text is made printable.

    Raises:
        EnvironmentNotReady: it can't be written.
    """
    totals = {
        "tests": str(len(cases)),
        **{name: str(sum(case.has(total) for case in cases)) for name, total in _TOTALS.items()},
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }
    suites = ElementTree.Element("testsuites", {"name": title, **totals})
    element = ElementTree.SubElement(suites, "testsuite", {"name": suite, **totals})
    for case in cases:
        _add_case(element, case)
    tree = ElementTree.ElementTree(suites)
    ElementTree.indent(tree)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        tree.write(file, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise EnvironmentNotReady(
            f"{file} can't be written: {error.strerror}", "Choose another file with --junit."
        ) from error


_TOTALS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _add_case(suite: ElementTree.Element, case: Case) -> None:
    named = {"classname": printable(case.place), "name": printable(case.name), "time": f"{case.seconds:.3f}"}
    element = ElementTree.SubElement(suite, "testcase", named)
    if case.properties:
        properties = ElementTree.SubElement(element, "properties")
        for name, value in case.properties.items():
            ElementTree.SubElement(properties, "property", {"name": name, "value": printable(value)})
    for item in case.problems:
        kind = {"type": item.kind} if item.kind else {}
        problem = ElementTree.SubElement(element, item.verdict, {**kind, "message": printable(item.message)})
        problem.text = printable(item.text, keep="\n") or None
    if case.output:
        ElementTree.SubElement(element, "system-out").text = printable(case.output, keep="\n")
