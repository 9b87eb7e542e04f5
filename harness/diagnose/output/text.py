"""A report for people: each finding as `<level> [<code>] (<resource>) <sentence>`, and what proves it below."""

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from rocketchaos.harness.diagnose.diagnosis import Report
from rocketchaos.harness.diagnose.finding import FAMILIES, Check, Evidence, Finding, Undetermined, distinct
from rocketchaos.harness.diagnose.words import clock, counted, joined

_WIDTH = 118
_PARAGRAPHS = 4
"""If groups differ more in the checks that found nothing, only `--verbose` lists these."""
_EVIDENCE = 12
"""At most this many answers of a finding are shown; JSON has all."""


def plain(text: str) -> str:
    """Without characters that steer a terminal: names and expressions come from the cluster."""
    return "".join(
        item if item.isprintable() or item == "\n" else "\N{REPLACEMENT CHARACTER}" for item in text
    )


def text(report: Report, *, verbose: bool = False, known: Collection[str] = ()) -> str:
    """The whole report; `verbose` has a sentence for each check that found nothing, otherwise they are codes.

    A finding whose headline is `known` has no proof: the reader has it already.
    """
    return plain("\n".join(_lines(report, verbose, known)))


def _lines(report: Report, verbose: bool, known: Collection[str]) -> Iterator[str]:
    for finding, also in distinct(report.findings):
        if finding.headline in known:
            yield from _wrapped("", f"{finding.headline} (proof above)", "    ")
        else:
            yield from _finding(finding)
        if also:
            yield from _wrapped("    also of:  ", _groups(also))
        yield ""
    yield from _undetermined(report.undetermined)
    ruled_out: dict[str, list[Check]] = {}
    for out in report.ruled_out:
        ruled_out.setdefault(out.group, []).append(out.check)
    yield from _ruled_out(ruled_out, verbose)
    if ruled_out and not verbose:
        yield "`--verbose` prints what each check that found nothing ruled out"
    told = [(item.check.code, item.group) for item in report.findings]
    told += [(item.check.code, item.group) for item in report.undetermined]
    named = {group for code, group in told if code == "RC0210"}
    if offline := [group for group in report.offline if not named & {group, ""}]:
        yield from _wrapped(
            "",
            f"no broker that was asked knows a member of {joined(offline)}; `--proxy` asks a proxy as well",
            "    ",
        )
    levels = [str(item.level) for item in report.findings]
    found = ", ".join(
        f"{counted(levels.count(item), item)}" for item in ("error", "warning") if item in levels
    )
    info = f"{levels.count('info')} info" if "info" in levels else ""
    summary = ", ".join(filter(None, (found, info))) or "nothing found"
    yield (
        f"{summary}; {len(report.undetermined)} undetermined; {counted(len(report.groups), 'group')} at "
        f"{'; '.join(report.name_servers)}, {counted(len(report.looks), 'look')}, {report.seconds:.1f} s"
    )


def _ruled_out(by_group: Mapping[str, list[Check]], verbose: bool) -> Iterator[str]:
    """A paragraph for all groups in which the same checks found nothing."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for group, checks in by_group.items():
        alike.setdefault(tuple(check.code for check in checks), []).append(group)
    for groups in alike.values() if verbose or len(alike) <= _PARAGRAPHS else ():
        checks = by_group[groups[0]]
        known = (
            "; ".join(f"{check.known} ({check.code})" for check in checks) if verbose else _by_family(checks)
        )
        yield from _wrapped(f"no finding for {_groups(groups)}: ", known)


def _by_family(checks: Sequence[Check]) -> str:
    """`members (RC0201, RC0202)`, …, and the caveats."""
    families: dict[str, list[str]] = {}
    for check in checks:
        families.setdefault(FAMILIES[check.code[:4]], []).append(check.code)
    parts = [f"{family} ({', '.join(_runs(codes))})" for family, codes in families.items()]
    return "; ".join([*parts, *(f"{check.code}: {check.caveat}" for check in checks if check.caveat)])


def _runs(codes: Iterable[str]) -> Iterator[str]:
    """`RC0201-RC0209`, `RC0211`: codes that follow each other together."""
    for _, run in groupby(enumerate(codes), lambda item: int(item[1][2:]) - item[0]):
        first, *rest = [code for _, code in run]
        yield f"{first}-{rest[-1]}" if rest else first


def _finding(finding: Finding) -> Iterator[str]:
    yield from _wrapped("", finding.headline, "    ")
    yield from _wrapped("    messages: ", finding.effect)
    for lost in finding.messages[:_EVIDENCE]:
        yield f"              {lost.text}"
    if len(finding.messages) > _EVIDENCE:
        yield f"              and {len(finding.messages) - _EVIDENCE} more ranges, in `-o json`"
    for index, evidence in enumerate(finding.evidence[:_EVIDENCE]):
        yield f"    {'proof:   ' if not index else '         '} {_in_words(evidence)}"
    if len(finding.evidence) > _EVIDENCE:
        yield f"              and {len(finding.evidence) - _EVIDENCE} more, in `-o json`"
    for index, change in enumerate(finding.check.change):
        yield from _wrapped("    change:   " if not index else "              ", f"{index + 1}. {change}")
    claims = f", claims {', '.join(finding.check.claims)}" if finding.check.claims else ""
    yield f"    see:      rocketchaos explain {finding.check.code}{claims}"


def _in_words(evidence: Evidence) -> str:
    return f"{evidence.says}  <- {evidence.exchange.question}, {clock(evidence.exchange.at_ms)}"


def _undetermined(found: Iterable[Undetermined]) -> Iterator[str]:
    """One line for each reason, and one for all checks and groups that the same silence leaves open."""
    open_for: dict[tuple[str, ...], list[Undetermined]] = {}
    silent: dict[tuple[str, str], list[str]] = {}
    for item in found:
        if item.by_silence:
            silent.setdefault((item.group, item.silent), []).append(item.check.code)
        else:
            open_for.setdefault((item.check.code, item.topic, item.reason), []).append(item)
    for first, *others in open_for.values():
        also = f"; so for {_groups([item.group for item in others])}" if others else ""
        yield from _wrapped(
            "",
            f"undetermined [{first.check.code}] ({first.resource}) {first.check.title}? {first.reason}{also}",
            "    ",
        )
    alike: dict[tuple[str, str], list[str]] = {}
    for (group, who), codes in silent.items():
        alike.setdefault((who, ", ".join(dict.fromkeys(codes))), []).append(group)
    for (who, listing), groups in alike.items():
        about = f"undetermined for {_groups(groups)} because {who} don't answer: {listing}"
        yield from _wrapped("", about, "    ")


def _groups(names: Sequence[str]) -> str:
    """`group g`, `groups g and h`, or `the cluster`, whose name is empty."""
    of_groups = [name for name in names if name]
    parts = [f"group{'s' * (len(of_groups) > 1)} {joined(of_groups)}"] if of_groups else []
    return " and ".join([*parts, "the cluster"] if len(of_groups) < len(names) else parts)


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
    return "\n".join(f"{check.code}  {check.level!s:<7}  {check.title}" for check in checks)
