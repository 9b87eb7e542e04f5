"""Whether the findings of a run that a night drew, or `shrink` wrote, show again. Pure."""

from collections.abc import Sequence

from rocketchaos.harness.nightly.codes import CODES
from rocketchaos.harness.nightly.document import MARK
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.earlier_run import Again


def codes(report: Report) -> tuple[str, ...]:
    """The codes of a run's findings; none if its scenario is not a night's."""
    if MARK not in report.scenario.marks:
        return ()
    from rocketchaos.harness.nightly.nightly_run import judged_run

    return tuple(finding.code for finding in judged_run(0, report, 1).findings)


def seen_again(wanted: Sequence[str], reports: Sequence[Report]) -> list[Again]:
    """The number of runs with each finding; `wanted` are codes."""
    if not wanted:
        return []
    from rocketchaos.harness.nightly.nightly_run import judged_run  # only runs of nights need it

    judged = [judged_run(number, report, 1) for number, report in enumerate(reports, 1)]
    silent = sum(run.not_judged is not None for run in judged)
    found = [{finding.code for finding in run.findings} for run in judged]
    return [
        Again(text, CODES[text].signature, sum(text in run for run in found), len(judged), silent)
        for text in wanted
    ]
