"""What the looks of `make bench-diagnose` found so far: kept in `accuracy.json`, shown as tables of the page.

Looks of several calls add up, so that ten looks at each malady need not fit into one sitting.
"""

from __future__ import annotations

import json
import os
import platform
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

from rocketchaos.harness.core.whole_file import write_whole
from tests.benchmarks.measuring import BENCHMARKS, write_into_page

KEPT = Path(__file__).with_name("accuracy.json")
BEGIN, END = (
    "<!-- figures of diagnoses by `make bench-diagnose` -->",
    "<!-- end of figures of diagnoses -->",
)
TOOLS = ("mqadmin", "dashboard")
"""Those that are asked beside a diagnosis."""
TOOLS_BEGIN, TOOLS_END = (
    "<!-- answers of other tools by `make bench-diagnose` -->",
    "<!-- end of answers of other tools -->",
)
HEALTHY_BEGIN, HEALTHY_END = (
    "<!-- figures of healthy groups by `make bench-diagnose` -->",
    "<!-- end of figures of healthy groups -->",
)
_LOCK = threading.Lock()
"""Several lanes keep their looks in one file."""


@dataclass(slots=True)
class Looks:
    """All looks at one malady on one version."""

    looks: int = 0
    right: int = 0
    seconds: list[float] = field(default_factory=list)
    """The fastest and the slowest last answer."""
    first_seconds: list[float] = field(default_factory=list)
    """Of the first answers likewise; empty before they were measured."""
    wrong: dict[str, int] = field(default_factory=dict)
    """The codes that a look found that was not right, in one text."""
    tools: dict[str, dict[str, int]] = field(default_factory=dict)
    """What other tools said of the same group, and how often, by tool: `mqadmin`, `dashboard`."""


@dataclass(slots=True)
class Healthy:
    """All looks at groups that nothing is wrong with, on one version. One look is one online group, once."""

    looks: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    """By code; likewise the next two."""
    warnings: dict[str, int] = field(default_factory=dict)
    undetermined: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Accuracy:
    """Everything that was measured."""

    maladies: dict[str, dict[str, Looks]] = field(default_factory=dict)
    """By malady and version."""
    healthy: dict[str, Healthy] = field(default_factory=dict)
    """By version."""


def count(counted: dict[str, int], found: Iterable[str]) -> None:
    """Add what was found."""
    for item in found:
        counted[item] = counted.get(item, 0) + 1


def read() -> Accuracy:
    """What was measured so far."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    return Accuracy(
        {
            malady: {version: Looks(**looks) for version, looks in versions.items()}
            for malady, versions in kept["maladies"].items()
        },
        {version: Healthy(**looks) for version, looks in kept["healthy"].items()},
    )


def looks_at(malady: str, version: str) -> Looks:
    """All looks so far."""
    with _LOCK:
        return read().maladies.get(malady, {}).get(version, Looks())


def keep_look(
    malady: str,
    version: str,
    *,
    right: bool,
    found: str,
    first_s: float,
    last_s: float,
    tools: Mapping[str, str],
) -> None:
    """Add one look at a malady, when it had its first and its last answer, and what the tools said of it."""
    with _LOCK:
        kept = read()
        looks = kept.maladies.setdefault(malady, {}).setdefault(version, Looks())
        looks.looks += 1
        looks.right += right
        looks.first_seconds = _extremes([*looks.first_seconds, first_s])
        looks.seconds = _extremes([*looks.seconds, last_s])
        if not right:
            count(looks.wrong, [found])
        for tool, said in tools.items():
            count(looks.tools.setdefault(tool, {}), [said])
        _write(kept)


def _extremes(seconds: Sequence[float]) -> list[float]:
    return [min(seconds), max(seconds)]


def keep_healthy(version: str, more: Healthy) -> None:
    """Add looks at healthy groups."""
    with _LOCK:
        kept = read()
        looks = kept.healthy.setdefault(version, Healthy())
        looks.looks += more.looks
        for name in ("errors", "warnings", "undetermined"):
            count(getattr(looks, name), Counter(getattr(more, name)).elements())
        _write(kept)


def _write(kept: Accuracy) -> None:
    write_whole(KEPT, (json.dumps(asdict(kept), indent=1, sort_keys=True) + "\n").encode())


def maladies_table(kept: Accuracy) -> str:
    """By malady and version: how often it was found under its code and nothing else, and how fast."""
    versions = sorted({version for looks in kept.maladies.values() for version in looks})
    rows = [
        f"{date.today()}, {os.cpu_count()} cores ({platform.machine()}):",
        "",
        f"| planted | code | {' | '.join(versions)} | first answer | last answer |",
        f"|---|---|{'---|' * len(versions)}---|---|",
    ]
    for malady, by_version in sorted(kept.maladies.items()):
        cells = [_right(by_version.get(version)) for version in versions]
        cells += [
            _range([second for looks in by_version.values() for second in looks.first_seconds]),
            _range([second for looks in by_version.values() for second in looks.seconds]),
        ]
        rows.append(f"| {malady} | {malady.split('-')[0].upper()} | {' | '.join(cells)} |")
    total = [looks for by_version in kept.maladies.values() for looks in by_version.values()]
    right, all_looks = sum(looks.right for looks in total), sum(looks.looks for looks in total)
    rows += [
        "",
        f"In all {right} of {all_looks} looks found the planted code, and nothing else that is wrong.",
    ]
    return "\n".join(rows)


def _range(seconds: Sequence[float]) -> str:
    return f"{min(seconds):.1f} - {max(seconds):.1f} s" if seconds else "not measured"


def _right(looks: Looks | None) -> str:
    if looks is None:
        return "not measured"
    wrong = "; ".join(f"{count} x {codes}" for codes, count in looks.wrong.items())
    return f"{looks.right} of {looks.looks}" + (f" ({wrong})" if wrong else "")


def tools_table(kept: Accuracy) -> str:
    """What the other tools said of the same groups, most often."""
    rows = [
        f"{date.today()}:",
        "",
        "| planted | version | mqadmin | the dashboard |",
        "|---|---|---|---|",
    ]
    for malady, by_version in sorted(kept.maladies.items()):
        for version, looks in sorted(by_version.items()):
            if looks.tools:
                said = (_most_often(looks.tools.get(tool, {})) for tool in TOOLS)
                rows.append(f"| {malady} | {version} | {' | '.join(said)} |")
    groups = rows[4:]
    fine = sum("Rebalance OK" in row for row in groups)
    rows += ["", f'`consumerStatus` says "Rebalance OK" of {fine} of these {len(groups)} groups.']
    return "\n".join(rows)


def _most_often(said: Mapping[str, int]) -> str:
    return Counter(said).most_common(1)[0][0] if said else "not asked"


def healthy_table(kept: Accuracy) -> str:
    """By version: what was found at groups that nothing is wrong with."""
    rows = [
        f"{date.today()}, {os.cpu_count()} cores ({platform.machine()}):",
        "",
        "| version | looks at healthy groups | errors | warnings | undetermined |",
        "|---|---|---|---|---|",
    ]
    for version, looks in sorted(kept.healthy.items()):
        found = [_listed(counted) for counted in (looks.errors, looks.warnings, looks.undetermined)]
        rows.append(f"| {version} | {looks.looks:,} | {' | '.join(found)} |")
    return "\n".join(rows)


def _listed(counted: Mapping[str, int]) -> str:
    by_count: dict[int, list[str]] = {}
    for code, number in sorted(counted.items()):
        by_count.setdefault(number, []).append(code)
    return "; ".join(f"{number:,} x {', '.join(codes)}" for number, codes in by_count.items()) or "none"


def write_page() -> None:
    """Write all tables into the page."""
    kept = read()
    write_into_page(BENCHMARKS, maladies_table(kept), BEGIN, END)
    write_into_page(BENCHMARKS, tools_table(kept), TOOLS_BEGIN, TOOLS_END)
    write_into_page(BENCHMARKS, healthy_table(kept), HEALTHY_BEGIN, HEALTHY_END)
