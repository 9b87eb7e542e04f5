"""One run on the console: the verdict and its evidence."""

from rocketchaos.assertions.event_view import of_type
from rocketchaos.harness.core.events.clients import OutputCut
from rocketchaos.harness.core.message_classes import CLASS_WORDS, fate_sentences, reasons
from rocketchaos.harness.core.model import Finding, Holds, MessageClass, Trouble
from rocketchaos.harness.core.text import event_numbers, one_line, seconds_text, some
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.facts import facts_line
from rocketchaos.harness.reporting.parts.findings import claim_text
from rocketchaos.harness.reporting.parts.queues import QueueLine, queue_lines
from rocketchaos.harness.reporting.parts.screen import Screen, outcome_style
from rocketchaos.harness.reporting.parts.shares import holder_of
from rocketchaos.harness.reporting.parts.story import cut_text
from rocketchaos.harness.reporting.parts.verdict import (
    SECTION_TITLES,
    WORDS,
    expectation,
    is_counterpart,
    logs_to_read,
    need_not_hold,
    reason_quote_and_hint,
    tells_why,
)
from rocketchaos.harness.reporting.parts.witnesses import divergences

_MAY_BE_HEARD = frozenset(MessageClass) - {
    MessageClass.DELIVERED,
    MessageClass.FILTERED_BY_BROKER,
    MessageClass.FILTERED_BY_CLIENT,
    MessageClass.STRANDED,
    MessageClass.IN_FLIGHT,
}
"""A listener may have got messages of these classes, too."""


def show_run(screen: Screen, run: Report) -> None:
    """Everything about one run, the verdict first and the way to go on last."""
    show_verdict(screen, run)
    show_trouble(screen, run)
    _show_messages(screen, run)
    _show_reasons(screen, run)
    _show_divergences(screen, run)
    _show_checks(screen, run)
    _show_ways_on(screen, run)


def show_verdict(screen: Screen, run: Report) -> None:
    """The sentence that says how it ended."""
    screen.line(
        screen.text(WORDS[run.outcome.kind], outcome_style(run)),
        screen.text(f"  {one_line(run.scenario.title)}  ", "bold"),
        screen.text(f"({expectation(run)})", "bold red" if run.outcome.wrong else ""),
        screen.text(f"  {seconds_text(run.seconds)}", "dim"),
    )


def show_trouble(screen: Screen, run: Report) -> None:
    """Why a run has no verdict: the reason, the way out, and the log with details."""
    if not tells_why(run) or (run.outcome.trouble is None and not run.outcome.reason):
        return
    reason, quoted, hint = reason_quote_and_hint(run)
    # The reason of an interruption already says it.
    names = {
        Trouble.PRECONDITION: "a precondition did not hold",
        Trouble.USAGE: "the scenario can't be meant so",
        Trouble.ENVIRONMENT: "the environment failed",
        Trouble.HARNESS: "the harness failed",
    }
    what = names.get(run.outcome.trouble) if run.outcome.trouble else None
    screen.line(screen.text("why  ", "dim"), f"{what}: " if what else "", reason, indent=2)
    for line in quoted:
        screen.line(screen.text(line, "dim"), indent=6)
    if hint:
        screen.line(screen.text("hint  ", "dim"), hint, indent=2)
    read = logs_to_read(run)
    if read:
        screen.line(screen.text("log  ", "dim"), some([str(run.folder / name) for name in read], 3), indent=2)


def show_finding(screen: Screen, run: Report, finding: Finding) -> None:
    """One check: what it states, what was expected and what was observed."""
    quiet = need_not_hold(run, finding.section)
    screen.line(
        screen.mark(finding.holds, quiet=quiet),
        screen.text(f" {finding.name} {claim_text(finding)}".rstrip(), "dim" if quiet else ""),
        indent=2,
    )
    screen.line(
        screen.text("expected  ", "dim"),
        screen.text(finding.expected, "dim" if quiet else ""),
        indent=6,
    )
    proof = event_numbers(finding.events)
    screen.line(
        screen.text("observed  ", "dim"),
        screen.text(finding.observed, "dim" if quiet else ""),
        screen.text(f"  ({proof})" if proof else "", "dim"),
        indent=6,
    )


def _show_checks(screen: Screen, run: Report) -> None:
    findings = run.outcome.findings
    if run.outcome.trouble is not None and all(item.holds is Holds.UNKNOWN for item in findings):
        screen.heading("Checks", f"none of the {len(findings)} could be answered")
        return
    for section, title in SECTION_TITLES.items():
        own = [item for item in findings if item.section == section]
        if own:
            rest = "the run shows the contrary, so it need not hold" if is_counterpart(run, section) else ""
            screen.heading(title, rest)
            for finding in own:
                show_finding(screen, run, finding)


def _show_messages(screen: Screen, run: Report) -> None:
    lines = queue_lines(run)
    if not lines:
        return
    screen.heading("Messages", "owners, subscriptions and offsets at the end")
    holder = holder_of(run)
    if holder is not None:
        screen.line(f"$holder is {holder}", indent=2)
    fates = run.outcome.messages
    for group, topic in dict.fromkeys((line.group, line.topic) for line in lines):
        own = [fate for fate in fates if (fate.group, fate.topic) == (group, topic)]
        sentences = fate_sentences(own) or [f"no message of {topic} for group {group} was acknowledged"]
        screen.line(sentences[0], indent=2)
        if own:
            screen.table(
                ["queue", "owner", "subscribes", "broker holds", "sent", "became", "offset"],
                [_row(line) for line in lines if (line.group, line.topic) == (group, topic)],
            )


def _row(line: QueueLine) -> list[str]:
    committed = "none" if line.consumer_offset is None else str(line.consumer_offset)
    return [
        line.queue,
        line.owner,
        line.own_subscription or "-",
        line.stored if line.stored is not None else "none",
        str(line.sent),
        became(line) or "-",
        "?" if line.max_offset is None else f"{committed} of {line.max_offset}",
    ]


def became(line: QueueLine) -> str:
    """`2 delivered`; to whom, where it was not only to the owner."""
    parts = [
        f"{count} {words.text}" for item, words in CLASS_WORDS.items() if (count := line.classes.get(item))
    ]
    if set(line.delivered) - {line.owner}:
        to = "to " + " and ".join(f"{name} ({count})" for name, count in line.delivered.items())
        if MessageClass.DELIVERED in line.classes and not _MAY_BE_HEARD & set(line.classes):
            parts[0] += f" {to}"
        else:
            parts.append(to)
    return ", ".join(parts)


def _show_reasons(screen: Screen, run: Report) -> None:
    found = reasons(run.outcome.messages)
    if not found:
        return
    screen.heading("Why messages did not arrive")
    for reason in found:
        screen.line(
            screen.text(f"{len(reason.keys)} {CLASS_WORDS[reason.message_class].text}", "bold"),
            f" ({some(reason.keys)}): {reason.reason} ",
            screen.text(f"({event_numbers(reason.events)})", "dim"),
            indent=2,
        )


def _show_divergences(screen: Screen, run: Report) -> None:
    found = divergences(run)
    if found:
        screen.heading("Where the witnesses differ")
        for text in found:
            screen.line(text, indent=2)


def _show_ways_on(screen: Screen, run: Report) -> None:
    screen.heading("Run")
    screen.line(facts_line(run), indent=2)
    for event in of_type(run.events, OutputCut):
        screen.line(screen.text("cut  ", "dim"), cut_text(event.node, event.body), indent=2)
    screen.unbroken("  read     ", str(run.folder / "START-HERE.md"))
    screen.unbroken("  look at  ", str(run.folder / "report.html"))
    screen.unbroken("  check    ", run.check_command)
    screen.unbroken("  reproduce", run.reproduce_command)
