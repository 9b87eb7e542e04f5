"""The figures of the report."""

from collections.abc import Sequence

import plotly.graph_objects as go

from rocketchaos.spark_reports.flakiness.assess import Assessed
from rocketchaos.spark_reports.flakiness.cells import Names, Verdict, share
from rocketchaos.spark_reports.flakiness.conditions import GROUPS, Condition
from rocketchaos.spark_reports.flakiness.read import Block, Signature
from rocketchaos.spark_reports.flakiness.words import day, part, rate, short
from rocketchaos.spark_reports.number_text import chance
from rocketchaos.spark_reports.queries import queries
from rocketchaos.spark_reports.render import style
from rocketchaos.spark_reports.render.anchors import anchor
from rocketchaos.spark_reports.render.figures.bars import Bar, stacked_bars
from rocketchaos.spark_reports.render.figures.forest import Estimate, forest
from rocketchaos.spark_reports.render.figures.heat_map import Cell, verdict_map
from rocketchaos.spark_reports.render.figures.trend import Change, Moment, Series, trend
from rocketchaos.spark_reports.report import Figure

MOST_SCENARIOS = 60
MOST_INTERVALS, MOST_TRENDS, MOST_STRIPS, MOST_CONDITIONS, MOST_CAUSES = 30, 6, 20, 6, 12
_POINTS = 20
_BASE = {
    Verdict.FAIL: "FAIL",
    Verdict.LIKELY_FAIL: "FAIL",
    Verdict.FLAKY: "FLAKY",
    Verdict.PASS: "PASS",
    Verdict.LIKELY_PASS: "PASS",
    Verdict.UNKNOWN: "UNKNOWN",
}


def map_figure(cells: Sequence[Assessed], names: Names) -> Figure | None:
    """Scenarios down, clients and versions across, the worst on top; None: there are no cells.

    Scenarios that nights drew are left out: each would be a row with one run.
    """
    own = [cell for cell in cells if not cell.drawn]
    if not own:
        return None
    scenarios = list(dict.fromkeys(cell.key.scenario for cell in own))
    rows = scenarios[:MOST_SCENARIOS]
    shown = set(rows)
    cells = [cell for cell in own if cell.key.scenario in shown]
    columns = sorted({names.column(cell.key) for cell in cells})
    at = {(cell.key.scenario, names.column(cell.key)): cell for cell in cells}
    # The first row names every column, in order, so that the map keeps it.
    drawn = [
        Cell(
            row,
            column,
            _BASE.get(cell.now) if cell else None,
            _map_text(cell) if cell else "–",
            _hover(cell) if cell else ("no runs",),
            anchor("cell", cell.key) if cell else None,
        )
        for row in rows
        for column in columns
        for cell in [at.get((row, column))]
    ]
    return Figure(
        "map",
        "Every scenario, client and version",
        f"{_of_all(len(rows), len(scenarios))}Each cell shows its current verdict, and how many of its judged "
        "runs ended as expected. A question mark means that there are too few runs to be sure. `measured`: the "
        "scenario expects nothing; the cell shows how many runs reproduced.",
        verdict_map(drawn),
        queries("flakiness_cells", "flakiness_history"),
    )


def _of_all(shown: int, every: int) -> str:
    return f"The worst {shown} of {every:,} scenarios. " if shown < every else ""


def _map_text(cell: Assessed) -> str:
    counts = cell.counts
    if cell.now is Verdict.MEASURED:
        return f"measured\n{counts.reproduced}/{counts.product}"
    return f"{cell.now.value}\n{counts.as_expected}/{counts.judged}"


def _hover(cell: Assessed) -> Sequence[str]:
    counts = cell.counts
    ends = f"{counts.reproduced} reproduced, {counts.not_reproduced} not, {counts.inconclusive} inconclusive"
    errors = f"{counts.environment_errors} errors of the environment, {counts.harness_errors} of the harness"
    return part(counts.as_expected, counts.judged), ends, errors


def intervals_figure(cells: Sequence[Assessed], names: Names) -> Figure | None:
    """The share of each cell with its interval, the worst first; None: none is judged."""
    rows = [
        Estimate(
            (cell.key.scenario, " ".join(names.column(cell.key))),
            cell.expected[0],
            cell.expected[1],
            cell.expected[2],
            text=f"{cell.counts.as_expected}/{cell.counts.judged}",
            kind=_BASE[cell.verdict],
            says=_hover(cell),
            leads_to=anchor("cell", cell.key),
        )
        for cell in [cell for cell in cells if cell.counts.judged][:MOST_INTERVALS]
        if cell.expected
    ]
    if not rows:
        return None
    return Figure(
        "intervals",
        "Shares with their intervals",
        "Share of judged runs that ended as expected, with the 95 % interval by Wilson; at most "
        f"{MOST_INTERVALS} cells, the worst on top.",
        forest(rows, "runs as expected", bounds=(0.0, 1.0), percent=True),
        queries("flakiness_cells"),
        methods=("wilson",),
    )


def time_figure(cells: Sequence[Assessed], names: Names) -> Figure | None:
    """The worst cells over time, with their change points; None: no cell has different ends."""
    worst = [cell for cell in cells if _both_ends(cell)][:MOST_TRENDS]
    if not worst:
        return None
    return Figure(
        "time",
        "Over time",
        "Share of runs as expected (measured cells: reproduced) in groups of successive runs, "
        "with its 95 % interval. A dashed line is a change point.",
        trend([_series(cell, names) for cell in worst], "run, in order of time", (0.0, 1.0), percent=True),
        queries("flakiness_history"),
        methods=("wilson", "change-points"),
    )


def _both_ends(cell: Assessed) -> bool:
    return 0 < sum(block.hits for block in cell.blocks) < cell.placed


def _series(cell: Assessed, names: Names) -> Series:
    moments, place = [], 0
    width = max(5, -(-cell.placed // _POINTS))
    for group in _groups(cell.blocks, width):
        runs, hits = sum(block.runs for block in group), sum(block.hits for block in group)
        middle = place + (runs + 1) / 2
        value, low, high = share(hits, runs) or (0.0, 0.0, 1.0)
        span = f"{day(group[0].first_started)} to {day(group[-1].last_started)}"
        moments.append(Moment(middle, value, low, high, (f"{hits} of {runs}", span)))
        place += runs
    changes = [
        Change(
            sum(block.runs for block in cell.blocks[: change.at]) + 0.5,
            f"{day(cell.blocks[change.at].first_started)}: {rate(*change.before)} → {rate(*change.after)}",
            bad=change.after[0] * change.before[1] < change.before[0] * change.after[1],
        )
        for change in cell.changes
    ]
    return Series(names.label(cell.key), moments, changes)


def _groups(blocks: Sequence[Block], width: int) -> list[list[Block]]:
    groups: list[list[Block]] = [[]]
    for block in blocks:
        if sum(item.runs for item in groups[-1]) >= width:
            groups.append([])
        groups[-1].append(block)
    return [group for group in groups if group]


def strips_figure(cells: Sequence[Assessed], names: Names) -> Figure | None:
    """One strip for each cell: how its runs ended, in order of time; None: no cell has different ends."""
    worst = [cell for cell in cells if _both_ends(cell)][:MOST_STRIPS]
    if not worst:
        return None
    most = max(len(cell.blocks) for cell in worst)
    labels = [style.label(cell.key.scenario, " ".join(names.column(cell.key))) for cell in worst]
    shares = [[block.hits / block.runs for block in cell.blocks] for cell in worst]
    hovers = [
        [f"{block.hits} of {block.runs}, from {day(block.first_started)}" for block in cell.blocks]
        for cell in worst
    ]
    plot = go.Figure(
        go.Heatmap(
            y=labels,
            x=list(range(1, most + 1)),
            z=[row + [None] * (most - len(row)) for row in shares],
            text=[row + [""] * (most - len(row)) for row in hovers],
            hovertemplate="%{y}<br>%{text}<extra></extra>",
            colorscale=[[0, style.BAD], [0.5, style.DOUBTFUL], [1, style.GOOD]],
            zmin=0,
            zmax=1,
            xgap=1 if most <= 60 else 0,
            ygap=4,
            showscale=False,
        )
    )
    lines = max(label.count("<br>") + 1 for label in labels)
    plot.update_layout(**style.layout(rows=len(worst), row_px=15 * lines + 14, around_px=60))
    plot.update_xaxes(title="run, or block of runs, in order of time", showgrid=False)
    plot.update_yaxes(autorange="reversed", showgrid=False, type="category")
    return Figure(
        "strips",
        "Run by run",
        "Each mark is a run, or a block of runs if a cell has more than 200. Green runs ended as expected "
        "(measured cells: reproduced), red ones did not. A long stretch is a change, a single mark is a flake.",
        plot,
        queries("flakiness_history"),
    )


def conditions_figure(conditions: Sequence[Condition]) -> Figure | None:
    """The share as expected by fifths of the most significant conditions; None: there are none."""
    foremost = conditions[:MOST_CONDITIONS]
    if not foremost:
        return None
    series = []
    for condition in foremost:
        moments = []
        for number in range(GROUPS):
            fifth = condition.fifths.get(number)
            if fifth is not None:
                value, low, high = share(fifth.hits, fifth.runs) or (0.0, 0.0, 1.0)
                says = f"{fifth.hits} of {fifth.runs}", f"{fifth.low:g} to {fifth.high:g}"
                moments.append(Moment(number + 1, value, low, high, says))
        effect = condition.effect
        auc = f"AUC {effect.auc:.2f} [{effect.low:.2f}, {effect.high:.2f}], {chance(condition.p)}"
        name = f"{condition.name}, {condition.scenario}: {auc}"
        series.append(Series(name, moments))
    return Figure(
        "conditions",
        "Conditions that correlate with the outcome",
        "Share of runs as expected, from the fifth of each cell's runs with the lowest values (1) to the fifth "
        "with the highest (5). If the line falls to the right, higher values go with more runs that did not end "
        "as expected.",
        trend(series, "fifth of the runs, by the condition", (0.0, 1.0), percent=True),
        queries("flakiness_conditions"),
        methods=("superiority", "tarone-holm"),
    )


def causes_figure(signatures: Sequence[Signature]) -> Figure | None:
    """The causes that cost most runs, by side; None: there are none."""
    foremost = [signature for signature in signatures if signature.first_in_runs][:MOST_CAUSES]
    if not foremost:
        return None
    colours = {"product": style.BAD, "harness": style.ACCENT, "environment": style.NEUTRAL}
    bars = [
        Bar((f"{number}. {short(signature.text, 60)}",), {signature.side: signature.first_in_runs})
        for number, signature in enumerate(foremost, 1)
    ]
    return Figure(
        "causes",
        "Causes",
        "Runs that did not end as expected, or ended in an error. Each counts once, for the finding that says "
        "most about it. The colour shows its side: product, harness or environment.",
        stacked_bars(bars, colours, unit="runs", shares=False),
        queries("flakiness_signatures"),
    )
