"""Forest plots: an estimate and its interval a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from rocketchaos.spark_reports.render import style
from rocketchaos.spark_reports.render.figures.rows import Rows


@dataclass(frozen=True, slots=True)
class Estimate:
    """One row of a forest plot."""

    label: tuple[str, ...]
    """`("same-group-different-tags", "java 5.3.3")`: rows with the same first part that follow one another are a
    group, whose name stands once."""
    point: float | None
    """None: there is none, and the row shows only its text."""
    low: float | None
    high: float | None
    text: str = ""
    """Stands to the right of the interval: `17/20`."""
    kind: str = ""
    """Decides colour and symbol, and is shown in the legend: `FLAKY`."""
    says: Sequence[str] = ()
    leads_to: str | None = None
    """The anchor of the row that has its numbers."""


def forest(
    rows: Sequence[Estimate],
    axis: str,
    bounds: tuple[float, float] | None = None,
    reference: float | None = None,
    colours: Mapping[str, str] = style.VERDICT_COLOURS,
    percent: bool = False,
) -> go.Figure:
    """Points with their intervals, the first row on top.

    Args:
        rows: as they shall stand.
        axis: the axis' title, with its unit.
        bounds: of the axis; None: as wide as the intervals.
        reference: where a line stands for `no difference`.
        colours: of the kinds, in the legend's order; other kinds get grey.
        percent: show shares as per cent.
    """
    figure, places = go.Figure(), Rows.of([row.label for row in rows])
    placed = list(zip(rows, places.places, strict=True))
    for kind in [*colours, *sorted({row.kind for row in rows} - set(colours))]:
        own = [(row, place) for row, place in placed if row.kind == kind and row.point is not None]
        if own:
            figure.add_trace(_trace(kind, own, colours.get(kind, style.NEUTRAL if kind else style.ACCENT)))
    figure.add_trace(_texts(placed, bounds[0] if bounds else reference))
    if reference is not None:
        figure.add_vline(x=reference, line={"color": style.NEUTRAL, "dash": "dot", "width": 1.5})
    places.layout(figure, around_px=90)
    figure.update_layout(
        showlegend=any(row.kind for row in rows), legend={"yref": "container", "y": 0, "yanchor": "bottom"}
    )
    figure.update_xaxes(
        title=style.plain(axis), range=_padded(bounds), tickformat=".0%" if percent else None, zeroline=False
    )
    return figure


def _padded(bounds: tuple[float, float] | None) -> list[float] | None:
    """Room for a mark on a bound, and for the text next to it."""
    if bounds is None:
        return None
    low, high = bounds
    return [low - 0.05 * (high - low), high + 0.14 * (high - low)]


def _trace(kind: str, rows: Sequence[tuple[Estimate, float]], colour: str) -> go.Scatter:
    own = [row for row, _ in rows]
    return go.Scatter(
        x=[row.point for row in own],
        y=[place for _, place in rows],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [_reach(row.point, row.high) for row in own],
            "arrayminus": [_reach(row.low, row.point) for row in own],
            "thickness": 3,
            "width": 0,
        },
        mode="markers",
        marker={"color": colour, "symbol": style.VERDICT_SYMBOLS.get(kind, "circle"), "size": 11},
        name=style.plain(kind),
        showlegend=bool(kind),
        customdata=[row.leads_to for row in own],
        hovertext=[style.hover(" · ".join(row.label), *(row.says or [row.text])) for row in own],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _reach(low: float | None, high: float | None) -> float:
    return 0.0 if low is None or high is None else high - low


def _texts(rows: Sequence[tuple[Estimate, float]], edge: float | None) -> go.Scatter:
    """What stands to the right of each interval; where nothing is known at the axis' beginning."""
    return go.Scatter(
        x=[next((x for x in (row.high, row.point, edge) if x is not None), None) for row, _ in rows],
        y=[place for _, place in rows],
        text=[f"  {style.plain(row.text)}" for row, _ in rows],
        mode="text",
        textposition="middle right",
        cliponaxis=False,
        showlegend=False,
        hoverinfo="skip",
    )
