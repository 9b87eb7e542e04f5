"""Forest plots: an estimate and its interval a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from spark_reports.render import style


@dataclass(frozen=True, slots=True)
class Estimate:
    """One row of a forest plot."""

    label: tuple[str, ...]
    """Each part begins a line: `("same-group-different-tags", "java 5.3.3")`."""
    point: float | None
    """None: there is none, and the row says so with its text alone."""
    low: float | None
    high: float | None
    text: str = ""
    """Stands to the right of the interval: `17/20`."""
    kind: str = ""
    """Decides colour and symbol, and is told in the legend: `FLAKY`."""
    says: Sequence[str] = ()


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
        rows: no two with the same label.
        axis: what the axis is, with its unit.
        bounds: of the axis; None: as wide as the intervals.
        reference: where a line stands for `no difference`.
        colours: of the kinds, in the legend's order; other kinds get grey.
        percent: show shares as per cent.
    """
    figure = go.Figure()
    for kind in [*colours, *sorted({row.kind for row in rows} - set(colours))]:
        own = [row for row in rows if row.kind == kind]
        if own:
            figure.add_trace(
                _trace(kind, own, colours.get(kind, style.ACCENT if not kind else style.NEUTRAL))
            )
    figure.add_trace(_texts(rows, bounds[0] if bounds else reference))
    if reference is not None:
        figure.add_vline(x=reference, line={"color": style.NEUTRAL, "dash": "dot", "width": 1.5})
    labels = [style.label(*row.label) for row in rows]
    lines = max((text.count("<br>") + 1 for text in labels), default=1)
    figure.update_layout(
        **style.layout(rows=len(rows), row_px=16 * lines + 12, around_px=100),
        showlegend=any(row.kind for row in rows),
        legend={"yref": "container", "y": 0, "yanchor": "bottom"},
    )
    figure.update_xaxes(
        title=style.plain(axis), range=_padded(bounds), tickformat=".0%" if percent else None, zeroline=False
    )
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=labels,
        range=[len(rows) - 0.5, -0.5],
    )
    return figure


def _padded(bounds: tuple[float, float] | None) -> list[float] | None:
    """Room for a mark upon a bound, and for the text beside it."""
    if bounds is None:
        return None
    low, high = bounds
    return [low - 0.03 * (high - low), high + 0.14 * (high - low)]


def _trace(kind: str, rows: Sequence[Estimate], colour: str) -> go.Scatter:
    known = [row for row in rows if row.point is not None]
    return go.Scatter(
        x=[row.point for row in known],
        y=[style.label(*row.label) for row in known],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [_reach(row.point, row.high) for row in known],
            "arrayminus": [_reach(row.low, row.point) for row in known],
            "thickness": 3,
            "width": 0,
        },
        mode="markers",
        marker={"color": colour, "symbol": style.VERDICT_SYMBOLS.get(kind, "circle"), "size": 11},
        name=style.plain(kind),
        showlegend=bool(kind),
        hovertext=[style.hover(" ".join(row.label), *(row.says or [row.text])) for row in known],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _reach(low: float | None, high: float | None) -> float:
    return 0.0 if low is None or high is None else high - low


def _texts(rows: Sequence[Estimate], edge: float | None) -> go.Scatter:
    """What stands to the right of each interval; where nothing is known at the axis' beginning."""
    tops = [next((x for x in (row.high, row.point, edge) if x is not None), None) for row in rows]
    return go.Scatter(
        x=tops,
        y=[style.label(*row.label) for row in rows],
        text=[f"  {style.plain(row.text)}" for row in rows],
        mode="text",
        textposition="middle right",
        cliponaxis=False,
        showlegend=False,
        hoverinfo="skip",
    )
