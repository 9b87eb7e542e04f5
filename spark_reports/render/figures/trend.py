"""Trends: one small chart a row over a common axis of time, with what changed marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rocketchaos.spark_reports.render import style

BAND = "rgba(58, 118, 196, .20)"
_ROW_PX = 150


@dataclass(frozen=True, slots=True)
class Moment:
    """One point of a series: a run, a night, a block of runs."""

    at: datetime | float
    """When, or which run in order."""
    value: float
    low: float | None = None
    high: float | None = None
    says: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """Where a series changes."""

    at: datetime | float
    text: str
    """As short as `5.3.3`, `0.9 → 0.4`."""
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """One row of the figure."""

    name: str
    moments: Sequence[Moment]
    changes: Sequence[Change] = ()


def trend(
    series: Sequence[Series],
    axis: str = "",
    bounds: tuple[float, float] | None = None,
    percent: bool = False,
) -> go.Figure:
    """A chart for each series, one below the other, the first on top.

    Args:
        series: up to a few dozen.
        axis: the common axis: `run, in order`; empty for time.
        bounds: of every chart's value axis; None: each its own.
        percent: show values as per cent.
    """
    rows = max(1, len(series))
    titles = [style.label(entry.name, width=44) for entry in series]
    title_px = 4 + 16 * max((title.count("<br>") + 1 for title in titles), default=1)
    figure = make_subplots(
        rows=rows,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=min(0.3, (title_px + 4) / (_ROW_PX * rows)),
        subplot_titles=titles or None,
    )
    for row, item in enumerate(series, 1):
        _draw(figure, row, item)
    figure.update_layout(**style.layout(rows=rows, row_px=_ROW_PX, around_px=title_px + 46), showlegend=False)
    figure.update_layout(margin={"t": title_px + 4, "r": 18})
    for title in figure.layout.annotations[: len(series)]:
        title.update(x=0, xref="paper", xanchor="left", align="left", font={"size": 12})
    for row, item in enumerate(series, 1):
        _mark(figure, row, item.changes)
    if bounds:
        room = 0.06 * (bounds[1] - bounds[0])
        figure.update_yaxes(range=[bounds[0] - room, bounds[1] + room])
    figure.update_yaxes(tickformat=".0%" if percent else None, nticks=5, zeroline=False)
    figure.update_xaxes(showgrid=False, nticks=6)
    figure.update_xaxes(title=style.plain(axis), row=rows, col=1)
    return figure


def _draw(figure: go.Figure, row: int, series: Series) -> None:
    times = [moment.at for moment in series.moments]
    if series.moments and all(m.low is not None and m.high is not None for m in series.moments):
        edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
        figure.add_scatter(x=times, y=[m.low for m in series.moments], row=row, col=1, **edge)
        figure.add_scatter(
            x=times,
            y=[m.high for m in series.moments],
            row=row,
            col=1,
            fill="tonexty",
            fillcolor=BAND,
            **edge,
        )
    figure.add_scatter(
        x=times,
        y=[moment.value for moment in series.moments],
        row=row,
        col=1,
        mode="lines+markers",
        line={"color": style.ACCENT, "width": 2},
        marker={"color": style.ACCENT, "size": 6},
        hovertext=[
            style.hover(series.name, *(moment.says or [f"{moment.value:g}"])) for moment in series.moments
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _mark(figure: go.Figure, row: int, changes: Sequence[Change]) -> None:
    for change in changes:
        colour = style.BAD if change.bad else style.NEUTRAL
        figure.add_shape(
            type="line",
            x0=change.at,
            x1=change.at,
            y0=0,
            y1=1,
            yref="y domain",
            row=row,
            col=1,
            line={"color": colour, "dash": "dash", "width": 1.6},
        )
        figure.add_annotation(
            x=change.at,
            y=1,
            yref="y domain",
            row=row,
            col=1,
            text=style.plain(change.text),
            showarrow=False,
            xanchor="left",
            yanchor="top",
            xshift=4,
            font={"size": 11},
        )
