"""Figures of times against RocketMQ's timers: quantiles a row, and distributions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from rocketchaos.spark_reports.render import style
from rocketchaos.spark_reports.render.figures.rows import Rows


@dataclass(frozen=True, slots=True)
class Quantiles:
    """One row: p50, p90, p99 and max, in milliseconds."""

    label: tuple[str, ...]
    """Rows with the same first part that follow one another are a group, whose name stands once."""
    p50: float
    p90: float
    p99: float
    highest: float
    count: int
    """Of how many."""


NEAR = 30
"""Timers whose quotient is less stand too near for names side by side, on a phone."""
STEP_PX = 13
LEAST_MS = 0.1
"""Where less is drawn, zero too: the axis is logarithmic."""

MARKS: Mapping[str, tuple[str, int]] = {
    "p50": ("line-ns", 15),
    "p90": ("circle", 11),
    "p99": ("diamond", 11),
    "max": ("x-thin", 9),
}
"""Quantile: symbol and size."""


def quantile_ranges(rows: Sequence[Quantiles], timers_ms: Mapping[str, float] | None = None) -> go.Figure:
    """A bar from p50 to max a row, with a mark for each quantile, and a line for each timer.

    Args:
        rows: as they shall stand.
        timers_ms: name, as `rebalance 20 s`: where its line stands.
    """
    places = Rows.of([row.label for row in rows])
    figure = go.Figure()
    figure.add_scatter(
        x=[x for row in rows for x in (max(row.p50, LEAST_MS), max(row.highest, LEAST_MS), None)],
        y=[place for place in places.places for _ in range(3)],
        mode="lines",
        line={"color": style.ACCENT, "width": 4},
        opacity=0.35,
        hoverinfo="skip",
        showlegend=False,
    )
    for name, (symbol, size) in MARKS.items():
        values = [{"p50": r.p50, "p90": r.p90, "p99": r.p99, "max": r.highest}[name] for r in rows]
        figure.add_scatter(
            x=[max(value, LEAST_MS) for value in values],
            y=places.places,
            mode="markers",
            name=name,
            marker={
                "symbol": symbol,
                "size": size,
                "color": style.ACCENT,
                "line": {"width": 2.5 if symbol in ("line-ns", "x-thin") else 0, "color": style.ACCENT},
            },
            hovertext=[
                style.hover(" · ".join(row.label), f"{name} {value:,.1f} ms of {row.count:,}")
                for row, value in zip(rows, values, strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    places.layout(figure, around_px=120)
    figure.update_layout(showlegend=True, legend={"yref": "container", "y": 0, "yanchor": "bottom"})
    _time_axis(figure)
    _timers(figure, timers_ms or {})
    return figure


def _time_axis(figure: go.Figure) -> None:
    steps = [LEAST_MS, 1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000]
    words = ["≤ 0.1 ms", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "1 min", "10 min", "1 h"]
    figure.update_xaxes(type="log", tickvals=steps, ticktext=words, title="time, logarithmic")


def _timers(figure: go.Figure, timers_ms: Mapping[str, float]) -> None:
    """Their lines, and their names to the left of them; where lines are near the names stand at steps."""
    step, before = 0, 0.0
    for name, exact_ms in sorted(timers_ms.items(), key=lambda item: item[1]):
        ms = max(exact_ms, LEAST_MS)
        step = step + 1 if before and ms < before * NEAR else 0
        before = ms
        figure.add_vline(x=ms, line={"color": style.BAD, "dash": "dash", "width": 1.4})
        figure.add_annotation(
            # On such an axis plotly takes lines as they are, and texts by their exponent.
            x=math.log10(ms),
            y=1,
            yref="paper",
            xanchor="right",
            yanchor="bottom",
            yshift=STEP_PX * step,
            text=style.plain(name),
            showarrow=False,
            font={"size": 10},
        )
        figure.update_layout(margin={"t": max(figure.layout.margin.t, 24 + STEP_PX * step)})
