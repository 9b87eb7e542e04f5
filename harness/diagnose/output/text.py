"""A report for people: each finding as `<level> [<code>] (<resource>) <sentence>`, and what proves it below."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.finding import Check, Evidence, Finding, Undetermined
from rocketchaos.harness.diagnose.words import clock, counted

_WIDTH = 118
_EVIDENCE = 12
"""Answers of one finding that are shown; JSON has all."""


def plain(text: str) -> str:
    """Without characters that steer a terminal: names and expressions come from the cluster."""
    return "".join(one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}" for one in text)


def text(report: Report) -> str:
    """The whole report."""
    return plain("\n".join(_lines(report)))


def _lines(report: Report) -> Iterator[str]:
    for one in report.findings:
        yield from _finding(one)
        yield ""
    yield from _undetermined(report.undetermined)
    ruled_out: dict[str, list[str]] = {}
    for out in report.ruled_out:
        ruled_out.setdefault(out.group, []).append(f"{out.check.ruled_out} ({out.check.code})")
    for group, known in ruled_out.items():
        if len(ruled_out) <= 4:
            yield from _wrapped(
                f"ruled out for {f'group {group}' if group else 'the cluster'}: ", "; ".join(known)
            )
    for group in report.offline:
        yield f"group {group}: no broker that was asked knows a member; `--proxy` asks a proxy as well"
    levels = [str(one.level) for one in report.findings]
    told = ", ".join(f"{counted(levels.count(one), one)}" for one in ("error", "warning") if one in levels)
    info = f"{levels.count('info')} info" if "info" in levels else ""
    summary = ", ".join(filter(None, (told, info))) or "nothing found"
    yield (
        f"{summary}; {len(report.undetermined)} undetermined; {counted(len(report.groups), 'group')} at "
        f"{'; '.join(report.name_servers)}, {counted(len(report.looks), 'look')}, {report.seconds:.1f} s"
    )


def _finding(one: Finding) -> Iterator[str]:
    yield from _wrapped(
        "", f"{one.level} [{one.check.code}] ({one.resource}) {one.check.title}: {one.sentence}", "    "
    )
    yield from _wrapped("    messages: ", one.effect)
    for lost in one.messages[:_EVIDENCE]:
        yield f"              {lost.told}"
    if len(one.messages) > _EVIDENCE:
        yield f"              and {len(one.messages) - _EVIDENCE} more ranges, in `-o json`"
    for index, evidence in enumerate(one.evidence[:_EVIDENCE]):
        yield f"    {'proof:   ' if not index else '         '} {_told(evidence)}"
    if len(one.evidence) > _EVIDENCE:
        yield f"              and {len(one.evidence) - _EVIDENCE} more, in `-o json`"
    for index, change in enumerate(one.check.change):
        yield from _wrapped("    change:   " if not index else "              ", f"{index + 1}. {change}")
    claims = f", claims {', '.join(one.check.claims)}" if one.check.claims else ""
    yield f"    see:      rocketchaos explain {one.check.code}{claims}"


def _told(evidence: Evidence) -> str:
    return f"{evidence.says}  <- {evidence.exchange.question}, {clock(evidence.exchange.at_ms)}"


def _undetermined(found: Iterable[Undetermined]) -> Iterator[str]:
    for one in found:
        yield from _wrapped(
            "", f"undetermined [{one.check.code}] ({one.resource}) {one.check.title}? {one.reason}", "    "
        )


def _wrapped(begin: str, words: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        words,
        _WIDTH,
        initial_indent=begin,
        subsequent_indent=indent or " " * min(len(begin), 14),
        break_long_words=False,
        break_on_hyphens=False,
    )


def listed(checks: Iterable[Check]) -> str:
    """The checks, a line each."""
    return "\n".join(f"{one.code}  {one.level!s:<7}  {one.title}" for one in checks)
