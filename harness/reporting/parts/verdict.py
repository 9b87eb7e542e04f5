"""The verdict in words, what speaks against it, and where to look when a run could not be completed."""

from collections.abc import Mapping, Sequence

from rocketchaos.harness.core.errors import message_and_hint
from rocketchaos.harness.core.events.clients import WorkerDied
from rocketchaos.harness.core.events.run import RunTrouble
from rocketchaos.harness.core.model import SECTION_OF, TENDENCY, Finding, Holds, OutcomeKind, Trouble
from rocketchaos.harness.core.text import counted, one_line, printable, seconds_text
from rocketchaos.harness.reporting.base import Report

WORDS: Mapping[OutcomeKind, str] = {
    OutcomeKind.REPRODUCED: "REPRODUCED",
    OutcomeKind.NOT_REPRODUCED: "NOT REPRODUCED",
    OutcomeKind.INCONCLUSIVE: "INCONCLUSIVE",
    OutcomeKind.ERROR: "ERROR",
}


SECTION_TITLES: Mapping[str, str] = {
    "anomaly": "Anomaly",
    "healthy": "Healthy behaviour",
    "also": "Also, whatever the outcome",
    TENDENCY: "Tendency, measured and not judged",
}


def expectation(run: Report) -> str:
    """`as expected`, or what it should have been, or what else kept the run from being as expected.

    Where nothing was expected with this client on this version: `measured`.
    """
    outcome = run.outcome
    if outcome.expected is None or outcome.as_expected:
        return outcome.judgement
    if outcome.kind is outcome.expected:
        others = [finding for finding in failing_findings(run) if finding.section == "also"]
        return f"{outcome.judgement}: {counted(len(others), 'check')} of `also` not seen to hold"
    return f"{outcome.judgement}: should be {outcome.expected.value.replace('-', ' ')}"


def tells_why(run: Report) -> bool:
    """Whether the outcome alone doesn't say it all: it is not as it should be, or measured and inconclusive."""
    return run.outcome.wrong or (run.outcome.measured and run.outcome.kind is OutcomeKind.INCONCLUSIVE)


def judged(runs: Sequence[Report]) -> str:
    """How many runs were as expected, how many not, and how many were only measured, if there are any."""
    good = sum(1 for run in runs if run.outcome.as_expected)
    wrong = sum(1 for run in runs if run.outcome.wrong)
    measured = len(runs) - good - wrong
    return f"{good} as expected, {wrong} not" + (f", {measured} measured" if measured else "")


def sentence(run: Report) -> str:
    """`REPRODUCED  Same group, different tags …  (as expected)  3.2 s`."""
    word, title = WORDS[run.outcome.kind], one_line(run.scenario.title)
    return f"{word}  {title}  ({expectation(run)})  {seconds_text(run.seconds)}"


def failing_findings(run: Report) -> list[Finding]:
    """The findings that keep the run from being as expected; none if it is, or was only measured.

    The checks of the other outcome are left out: they should not hold.
    """
    outcome = run.outcome
    if not outcome.wrong:
        return []
    sections = {"also", *([SECTION_OF[outcome.expected]] if outcome.expected is not None else [])}
    if outcome.expected is None or (outcome.kind is OutcomeKind.INCONCLUSIVE and outcome.trouble is None):
        sections |= set(SECTION_OF.values())
    return [
        finding
        for finding in outcome.findings
        if finding.section in sections and finding.holds is not Holds.YES
    ]


def is_counterpart(run: Report, section: str) -> bool:
    """Whether the section states the contrary of what the run shows, so that its checks need not hold."""
    seen = SECTION_OF.get(run.outcome.kind)
    return seen is not None and section in SECTION_OF.values() and section != seen


def need_not_hold(run: Report, section: str) -> bool:
    """Whether it says nothing against the run where a check of the section doesn't hold."""
    return section == TENDENCY or is_counterpart(run, section)


def reason_and_hint(run: Report) -> tuple[str, str]:
    """The reason of the outcome, and what to do about it (often nothing is known)."""
    reason, hint = message_and_hint(run.outcome.reason)
    return one_line(reason), one_line(hint)


def reason_quote_and_hint(run: Report) -> tuple[str, list[str], str]:
    """The same, with the lines that the reason quotes by themselves, such as the end of a program's log."""
    message, hint = message_and_hint(run.outcome.reason)
    reason, *quoted = message.splitlines() or [""]
    return one_line(reason), [printable(line.strip()) for line in quoted if line.strip()], one_line(hint)


def logs(run: Report) -> list[str]:
    """The files in `logs/`, relative to the run folder, without what the harness writes for a program's agent."""
    folder = run.folder / "logs"
    try:
        files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".json")
    except OSError:
        return []
    return [path.relative_to(run.folder).as_posix() for path in files]


def logs_to_read(run: Report) -> list[str]:
    """The logs that say more about why the run could not be completed, the likeliest first.

    First the logs of workers that died, then those of the clients and servers in the error.
    """
    if run.outcome.trouble in (None, Trouble.INTERRUPTED):
        return []
    dead = [event.node for event in run.events if event.kind == WorkerDied.kind]
    troubles = [event.body for event in run.events if isinstance(event.body, RunTrouble)]
    wanted = [*dead, *(name for trouble in troubles for name in trouble.about)]
    if run.outcome.trouble is Trouble.HARNESS:
        wanted.insert(0, "harness-traceback")
    return [
        path
        for node in dict.fromkeys(wanted)
        for beginning in (f"logs/{node}.", f"logs/{node}/")
        for path in logs(run)
        if path.startswith(beginning)
    ]
