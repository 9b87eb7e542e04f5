"""`START-HERE.md`: the verdict in words, for anybody who opens a run folder."""

from collections.abc import Iterator, Sequence

from rocketchaos.harness.core.message_classes import CLASS_WORDS, fate_sentences, reasons
from rocketchaos.harness.core.model import Holds, MessageClass, MessageFate
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.core.text import event_numbers, printable, seconds_text, some
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.advice import advice
from rocketchaos.harness.reporting.parts.facts import facts_line
from rocketchaos.harness.reporting.parts.findings import ANSWERS, claim_text
from rocketchaos.harness.reporting.parts.markdown import cell, code
from rocketchaos.harness.reporting.parts.story import story
from rocketchaos.harness.reporting.parts.verdict import (
    WORDS,
    expectation,
    is_counterpart,
    logs,
    logs_to_read,
    reason_and_hint,
    tells_why,
)
from rocketchaos.harness.reporting.parts.witnesses import divergences

MESSAGE_LIMIT = 40
"""The limit of messages with a line each; `messages.jsonl` has all of them."""


class StartHereReporter:
    """For anybody who finds a run folder, in the folder itself."""

    def report(self, runs: Sequence[Report]) -> None:
        """Write each run's file.

        Raises:
            EnvironmentNotReady: it can't be written.
        """
        for run in runs:
            RunFolder(run.folder).write_text("START-HERE.md", start_here(run))


def start_here(run: Report) -> str:
    """The text of the file."""
    parts = (_verdict, _story, _messages, _checks, _advice, _read_on, _commands)
    return printable("\n".join(line for part in parts for line in part(run)), keep="\n") + "\n"


def _verdict(run: Report) -> Iterator[str]:
    yield f"# {WORDS[run.outcome.kind]}: {cell(run.scenario.title)}"
    yield ""
    yield f"**{cell(expectation(run))}**, after {seconds_text(run.seconds)}. {cell(facts_line(run))}."
    reason, hint = reason_and_hint(run)
    if tells_why(run):
        yield ""
        yield f"Why: {cell(reason)}" + (f" {cell(hint)}" if hint else "")
        for path in logs_to_read(run)[:3]:
            yield f"- read [{cell(path)}]({_link(path)})"
    yield ""
    if run.scenario.story:
        yield from (f"> {cell(line)}" for line in run.scenario.story.splitlines())
        yield ""


def _story(run: Report) -> Iterator[str]:
    lines = story(run.events)
    if not lines:
        return
    yield "## What happened"
    yield ""
    yield "| seconds | what | event |"
    yield "|---:|---|---:|"
    for line in lines:
        yield f"| {line.seconds:.2f} | {cell(line.text)} | {line.event} |"
    yield ""


def _messages(run: Report) -> Iterator[str]:
    fates = run.outcome.messages
    if not fates:
        return
    yield "## What became of the messages"
    yield ""
    for sentence in fate_sentences(fates):
        yield f"- {cell(sentence)}"
    for text in divergences(run):
        yield f"- {cell(text)}"
    yield ""
    yield "| message | tag | queue | offset | owner | broker held | became | delivered to |"
    yield "|---|---|---|---:|---|---|---|---|"
    shown = _most_telling(fates)
    for fate in shown:
        yield _fate_row(fate)
    yield ""
    if len(shown) < len(fates):
        yield f"{len(fates) - len(shown):,} more are in `messages.jsonl`."
        yield ""
    for reason in reasons(fates):
        words = CLASS_WORDS[reason.message_class].text
        sentence = cell(f"({some(reason.keys)}): {reason.reason} ({event_numbers(reason.events)})")
        yield f"- **{len(reason.keys):,} {words}** {sentence}"
    yield ""


def _most_telling(fates: Sequence[MessageFate]) -> list[MessageFate]:
    """All messages, or the first ones, with undelivered messages before delivered ones."""
    if len(fates) <= MESSAGE_LIMIT:
        return list(fates)
    ordered = sorted(fates, key=lambda fate: fate.message_class is MessageClass.DELIVERED)
    return ordered[:MESSAGE_LIMIT]


def _fate_row(fate: MessageFate) -> str:
    cells = (
        fate.key,
        "none" if fate.tag is None else fate.tag,
        fate.queue or "?",
        "?" if fate.offset is None else fate.offset,
        fate.owner or "not proven",
        "not proven" if fate.subscription is None else fate.subscription,
        CLASS_WORDS[fate.message_class].text,
        ", ".join(fate.deliveries) or "nobody",
    )
    return "| " + " | ".join(cell(item) for item in cells) + " |"


def _checks(run: Report) -> Iterator[str]:
    yield "## Checks"
    yield ""
    yield "| section | check | | expected | observed | proof |"
    yield "|---|---|---|---|---|---|"
    marks = {Holds.YES: "✓", Holds.NO: "✗", Holds.UNKNOWN: "?"}
    for finding in run.outcome.findings:
        contrary = " (the run shows the contrary)" if is_counterpart(run, finding.section) else ""
        name = cell(finding.name + claim_text(finding))
        yield (
            f"| {finding.section}{contrary} | {name} | {marks[finding.holds]} {ANSWERS[finding.holds]} "
            f"| {cell(finding.expected)} | {cell(finding.observed)} | {event_numbers(finding.events, 4)} |"
        )
    yield ""


def _advice(run: Report) -> Iterator[str]:
    found = advice(run)
    if not found:
        return
    yield "## What follows from it"
    yield ""
    for text in found:
        yield f"- {cell(text)}"
    yield ""


_FILES = {
    "report.html": "the same with a timeline, queues and offsets; needs no network",
    "messages.jsonl": "every message: queue, owner, stored subscription, what became of it, and the proof",
    "events.jsonl": "the history: every event, numbered as cited here",
    "checks.json": "every check with expected and observed",
    "outcome.json": "the verdict for programs",
    "facts.jsonl": "the facts by which many runs are compared, for `rocketchaos report ingest`",
    "run.json": "versions, seed, timing, host",
    "scenario.yaml": "the scenario as it was run",
}


def _read_on(run: Report) -> Iterator[str]:
    yield "## Where to read on"
    yield ""
    for name, what in _FILES.items():
        yield f"- [{name}]({name}): {what}"
    for path in logs(run):
        yield f"- [{cell(path)}]({_link(path)})"
    yield ""


def _link(path: str) -> str:
    return path.replace(" ", "%20").replace("(", "%28").replace(")", "%29")


def _commands(run: Report) -> Iterator[str]:
    yield "## Again"
    yield ""
    yield f"- run the same again: {code(run.reproduce_command)}"
    yield f"- judge the stored history again, without a cluster: {code(run.check_command)}"
