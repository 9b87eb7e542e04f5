"""`report.html`: the whole run on one page that needs no network."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.message_classes import CLASS_WORDS, class_counts, fate_sentences, reasons
from rocketchaos.harness.core.model import Finding, Holds, MessageClass, MessageFate, OutcomeKind
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.core.text import printable, seconds_text
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.advice import advice
from rocketchaos.harness.reporting.parts.event_list import event_list
from rocketchaos.harness.reporting.parts.facts import facts, facts_line, host_facts, phases
from rocketchaos.harness.reporting.parts.findings import ANSWERS
from rocketchaos.harness.reporting.parts.message_grid import message_grids
from rocketchaos.harness.reporting.parts.offset_plots import offset_plots
from rocketchaos.harness.reporting.parts.queues import queue_lines
from rocketchaos.harness.reporting.parts.shares import holder_of
from rocketchaos.harness.reporting.parts.story import story
from rocketchaos.harness.reporting.parts.timeline import timeline
from rocketchaos.harness.reporting.parts.verdict import (
    SECTION_TITLES,
    WORDS,
    expectation,
    is_counterpart,
    logs,
    logs_to_read,
    need_not_hold,
    reason_quote_and_hint,
    tells_why,
)
from rocketchaos.harness.reporting.parts.witnesses import divergences, last_tracks

TEMPLATES = Path(__file__).parent / "templates"
MESSAGE_LIMIT = 500
PROOF_LIMIT = 16
_CODE = re.compile("`([^`]+)`")


class HtmlReporter:
    """For anybody who opens `report.html` in a run folder."""

    def report(self, runs: Sequence[Report]) -> None:
        """Write each run's page.

        Raises:
            EnvironmentNotReady: it can't be written.
        """
        for run in runs:
            RunFolder(run.folder).write_text("report.html", page(run))


def page(run: Report) -> str:
    """The page."""
    return _environment().get_template("report.html.jinja").render(_values(run))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        bytecode_cache=_compiled(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["link"] = lambda path: quote(str(path))
    environment.filters["px"] = lambda value: f"{value:.1f}".removesuffix(".0")
    environment.filters["count"] = lambda number: f"{number:,}"
    environment.filters["ticks"] = _ticks
    environment.filters["seconds"] = seconds_text
    return environment


def _compiled() -> FileSystemBytecodeCache | None:
    """Where compiled templates are kept: to compile them takes longer than to fill them in.

    jinja2 looks whether a template is still the same; this module, which makes the environment, is part of the
    name. None if nothing can be kept.
    """
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    try:
        return FileSystemBytecodeCache(str(paths.templates_folder()), f"{digest}-%s.cache")
    except EnvironmentNotReady:
        return None


def _shown(value: object) -> object:
    """Strangers' text without control characters; autoescape does the rest."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value, keep="\n")
    return value


def _values(run: Report) -> dict[str, Any]:
    events = event_list(run)
    reason, quoted, hint = reason_quote_and_hint(run)
    fates = _most_telling(run.outcome.messages)
    return {
        "run": run,
        "word": WORDS[run.outcome.kind],
        "tone": _tone(run),
        "expectation": expectation(run),
        "tells_why": tells_why(run),
        "reason": reason,
        "quoted": quoted,
        "hint": hint,
        "logs_to_read": logs_to_read(run),
        "facts_line": facts_line(run),
        "fate_sentences": fate_sentences(run.outcome.messages),
        "holder": holder_of(run),
        "divergences": divergences(run),
        "advice": advice(run),
        "reasons": [(CLASS_WORDS[item.message_class].text, item) for item in reasons(run.outcome.messages)],
        "sections": _sections(run),
        "timeline": timeline(run),
        "story": story(run.events),
        "grids": message_grids(run),
        "queue_lines": queue_lines(run),
        "plots": offset_plots(run),
        "classes": _legend(run),
        "class_words": CLASS_WORDS,
        "class_codes": {item.value: words.code for item, words in CLASS_WORDS.items()},
        "fates": fates,
        "fates_left_out": len(run.outcome.messages) - len(fates),
        "tracks": last_tracks(run),
        "events": events,
        "linked": events.numbers,
        "proof_limit": PROOF_LIMIT,
        "facts": facts(run),
        "host": host_facts(run),
        "phases": phases(run),
        "logs": logs(run),
    }


def _ticks(text: str) -> Markup:
    """The text with what stands between backticks as code; escaped before, so that nothing of it acts."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(printable(text)))))


def _tone(run: Report) -> str:
    if run.outcome.as_expected:
        return "good"
    if run.outcome.measured:
        return "quiet"
    return "unsure" if run.outcome.kind is OutcomeKind.INCONCLUSIVE else "bad"


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A finding as the page shows it."""

    finding: Finding
    mark: str
    tone: str
    answer: str


@dataclass(frozen=True, slots=True)
class CheckSection:
    """The checks of one section of the scenario."""

    title: str
    counterpart: bool
    """Whether it states the contrary of what the run shows."""
    rows: tuple[CheckRow, ...]


def _sections(run: Report) -> list[CheckSection]:
    marks = {Holds.YES: ("✓", "good"), Holds.NO: ("✗", "bad"), Holds.UNKNOWN: ("?", "unsure")}
    sections = []
    for section, title in SECTION_TITLES.items():
        counterpart, quiet = is_counterpart(run, section), need_not_hold(run, section)
        rows = tuple(
            CheckRow(
                finding,
                marks[finding.holds][0],
                "quiet" if quiet else marks[finding.holds][1],
                ANSWERS[finding.holds],
            )
            for finding in run.outcome.findings
            if finding.section == section
        )
        if rows:
            sections.append(CheckSection(title, counterpart, rows))
    return sections


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One class in the legend."""

    name: str
    code: str
    text: str
    meaning: str
    count: int


def _legend(run: Report) -> list[LegendEntry]:
    return [
        LegendEntry(item.value, words.code, words.text, words.meaning, count)
        for item, count in class_counts(run.outcome.messages).items()
        for words in (CLASS_WORDS[item],)
    ]


def _most_telling(fates: Sequence[MessageFate]) -> list[MessageFate]:
    """All, or the first ones with those first that were not delivered."""
    if len(fates) <= MESSAGE_LIMIT:
        return list(fates)
    return sorted(fates, key=lambda fate: fate.message_class is MessageClass.DELIVERED)[:MESSAGE_LIMIT]
