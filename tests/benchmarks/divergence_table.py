"""Where clients and versions differ: one line a client, one column a version, in Markdown. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from packaging.version import InvalidVersion, Version

from rocketchaos.harness.core.text import counted, one_line, percent
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.cells import CellRuns, cells, shares_text
from rocketchaos.harness.reporting.parts.markdown import cell

_NOTHING = "–"
"""In a cell in which nothing was run."""


def divergence_table(runs: Sequence[Report]) -> str:
    """The scenarios in which not all cells ended alike, and the names of the others."""
    by_scenario = {name: list(own) for name, own in groupby(cells(runs), lambda item: item.scenario)}
    differing = {name: own for name, own in by_scenario.items() if differs(own)}
    alike = [name for name in by_scenario if name not in differing]
    versions = sorted({item.rocketmq for own in by_scenario.values() for item in own}, key=_order)
    lines = [_conditions(runs), ""]
    if differing:
        rows = [row for own in differing.values() for row in _rows(own, versions)]
        lines += [*_table(rows, versions), ""]
    if alike:
        names = ", ".join(f"{_code(name)} ({_ending(by_scenario[name][0])})" for name in alike)
        lines += [f"All clients on all versions ended alike in {names}.", ""]
    return "\n".join(lines).rstrip("\n")


def differs(own: Sequence[CellRuns]) -> bool:
    """Whether the cells of a scenario ended differently, or something else became of what was sent."""
    return len({(frozenset(cell_runs.outcomes()), frozenset(cell_runs.fates())) for cell_runs in own}) > 1


def _rows(own: Sequence[CellRuns], versions: Sequence[str]) -> list[list[str]]:
    """Of each client: the scenario's name where it is the first, the client, and a column a version."""
    rows: list[list[str]] = []
    for client in dict.fromkeys(cell_runs.client for cell_runs in own):
        found = {cell_runs.rocketmq: cell_runs for cell_runs in own if cell_runs.client == client}
        name = _code(own[0].scenario) if not rows else ""
        columns = [_in_words(found[version]) if version in found else _NOTHING for version in versions]
        rows.append([name, cell(client), *columns])
    return rows


def _table(rows: Sequence[Sequence[str]], versions: Sequence[str]) -> list[str]:
    """The table; neighbouring versions of which the same is to be told share a column."""
    columns = list(zip(*rows, strict=True))
    shared = [list(same) for _, same in groupby(range(len(versions)), lambda index: columns[2 + index])]
    heads = [f"RocketMQ {', '.join(cell(versions[index]) for index in same)}" for same in shared]
    kept = [0, 1, *(2 + same[0] for same in shared)]
    return [
        f"| scenario | client | {' | '.join(heads)} |",
        "|" + "---|" * len(kept),
        *(f"| {' | '.join(row[index] for index in kept)} |" for row in rows),
    ]


def _code(name: str) -> str:
    return f"`{one_line(name)}`"


def _in_words(own: CellRuns) -> str:
    """`**reproduced**: 4 delivered, 4 filtered by the client`; of several runs with shares and intervals."""
    parts = []
    for kind, share in own.outcomes().items():
        interval = f"{percent(share.low).removesuffix(' %')} to {percent(share.high)}"
        many = f" {share.count} of {share.total} ({interval})" if len(own.runs) > 1 else ""
        parts.append(f"**{kind}**{many}")
    became = shares_text(own.fates())
    return ", ".join(parts) + (f": {cell(became)}" if became else "")


def _ending(own: CellRuns) -> str:
    return " or ".join(own.outcomes())


def _conditions(runs: Sequence[Report]) -> str:
    """When, how often, and on what machine."""
    days = sorted({str(run.record["ended"])[:10] for run in runs if run.record.get("ended")})
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "at an unknown time"
    hosts = {
        ", ".join(part for part in (_cores(run), _memory(run)) if part)
        for run in runs
        if run.record.get("host")
    }
    timings = sorted({str(run.record.get("timing") or run.scenario.timing) for run in runs})
    parts = [when, counted(len(runs), "run"), *sorted(hosts), f"timing {' and '.join(timings)}"]
    return cell(", ".join(parts)) + ":"


def _cores(run: Report) -> str:
    number = _host(run).get("processors")
    return f"{number} cores" if number else ""


def _memory(run: Report) -> str:
    mib = _host(run).get("memory_mib")
    return f"{int(mib) // 1024} GiB" if mib else ""


def _host(run: Report) -> Mapping[str, Any]:
    host = run.record.get("host")
    return host if isinstance(host, Mapping) else {}


def _order(version: str) -> tuple[bool, Version | str]:
    try:
        return True, Version(version)
    except InvalidVersion:
        return False, version
