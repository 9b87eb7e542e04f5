"""The page of what people report, `docs/symptoms.md`, made from the scenarios and from what runs showed of them.

To update it after a change: `python -m rocketchaos.harness.reference.symptoms > docs/symptoms.md`.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from rocketchaos.harness.claims.runs import seen_in
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.language.symptom import SEEN
from rocketchaos.harness.plan.symptom_list import ListedSymptom, Measured, shipped_measured, shipped_symptoms
from rocketchaos.harness.rocketmq.versions import ascending

_OPENING = """\
# Symptoms

Made from the scenarios by `python -m rocketchaos.harness.reference.symptoms`: don't edit it.

What people report in the trackers of RocketMQ and its clients, each with the scenario that shows it on a real
RocketMQ. `rocketchaos symptoms "TEXT"` finds one by a log line, a response code or a word of a dashboard.
"""
_TABLE = """\
## On which versions

Made from runs: `rocketchaos run scenarios/symptoms --matrix rocketmq=VERSIONS --runs RUNS`, then
`rocketchaos symptoms --table RUNS`. "Fixed in" is the first of these versions without it after the last one that
has it; releases between two columns weren't run.
"""


def measured_from(runs: Path, left_out: Callable[[str], None]) -> Measured:
    """How the runs of shipped symptoms in a folder ended, by scenario and version.

    Args:
        runs: the folder.
        left_out: called for each run that has no outcome, with a sentence that names it.

    Raises:
        UsageProblem: there is no such run, or one can't be read.
    """
    names = {symptom.name for symptom in shipped_symptoms(measured={})}
    found: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for run in seen_in([runs], left_out):
        if run.scenario in names:
            found[run.scenario][run.rocketmq][run.outcome.value] += 1
    if not found:
        raise UsageProblem(
            f"there is no run of a symptom in {runs}",
            f"`rocketchaos run scenarios/symptoms --runs {runs}` makes some.",
        )
    return found


def measured_document(measured: Measured) -> dict[str, Any]:
    """The same as a document, in a fixed order."""
    return {
        "schema_version": SCHEMA_VERSION,
        "runs": {
            name: {version: dict(sorted(ends[version].items())) for version in ascending(ends)}
            for name, ends in sorted(measured.items())
        },
    }


def table(measured: Measured) -> str:
    """The table of issues, symptoms and versions, in Markdown."""
    rows = shipped_symptoms(measured)
    versions = ascending({version for symptom in rows for version in symptom.runs})
    lines = [
        f"| issue | symptom | seen | {' | '.join(versions)} | fixed in |",
        "|" + "---|" * (4 + len(versions)),
    ]
    for symptom in rows:
        cells = [_cell(symptom, version) for version in versions]
        lines.append(
            f"| {', '.join(map(_link, symptom.issues))} | [{symptom.name}](#{symptom.name}) | "
            f"{', '.join(symptom.seen)} | "
            f"{' | '.join(cells)} | {symptom.fixed_in} |"
        )
    return "\n".join([*lines, ""])


def _cell(symptom: ListedSymptom, version: str) -> str:
    """`yes`, `no`, or how often of how many; `-` where it wasn't run, or showed nothing."""
    ends = symptom.runs.get(version, {})
    yes, no = ends.get("reproduced", 0), ends.get("not-reproduced", 0)
    if not yes + no:
        return "?" if ends else "-"
    return ("no", "yes")[yes > 0] if not (yes and no) else f"{yes} of {yes + no}"


def symptoms_page() -> str:
    """The whole page, in Markdown."""
    parts = [_OPENING]
    for seen, group in groupby(shipped_symptoms(), key=lambda symptom: symptom.seen[0]):
        parts += [f"## {seen.replace('-', ' ').capitalize()}: {SEEN[seen]}\n", *map(_entry, group)]
    return "\n".join([*parts, _TABLE, table(shipped_measured())])


def _entry(symptom: ListedSymptom) -> str:
    return "\n".join([f"### {symptom.name}\n", f"{_escaped(symptom.title)}\n", *_points(symptom), ""])


def _points(symptom: ListedSymptom) -> Iterator[str]:
    yield f"- Issues: {', '.join(map(_link, symptom.issues))}"
    yield f"- Seen as: {', '.join(symptom.seen)}"
    yield f"- Reported: {_escaped(symptom.reported)}"
    yield f"- Texts: {', '.join(f'`{text}`' for text in symptom.texts)}"
    yield f"- Cause: {_escaped(symptom.cause)}"
    yield f"- Way out: {_escaped(symptom.remedy)}"
    if symptom.not_reproduced:
        yield f"- Not reproduced: {_escaped(symptom.not_reproduced)}"
    yield f"- `{symptom.reproduce}`" + (f"; its control: `{symptom.control}`" if symptom.control else "")


def _link(issue: str) -> str:
    repository, _, number = issue.partition("#")
    return f"[{issue}](https://github.com/{repository}/issues/{number})"


def _escaped(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;")


if __name__ == "__main__":
    sys.stdout.write(symptoms_page())
