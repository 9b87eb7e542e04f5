"""Figures of times against RocketMQ's timers: quantiles a row, and distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from spark_reports.render import style


@dataclass(frozen=True, slots=True)
class Quantiles:
    """One row: p50, p90, p99 and max, in milliseconds."""

    label: tuple[str, ...]
    """Each part begins a line."""
    p50: float
    p90: float
    p99: float
    highest: float
    count: int
    """Of how many."""


MARKS: Mapping[str, tuple[str, int]] = {
    "p50": ("line-ns", 15),
    "p90": ("circle", 11),
    "p99": ("diamond", 11),
    "max": ("x-thin", 9),
}
"""Quantile: symbol and size."""


def quantile_ranges(
    rows: Sequence[Quantiles], timers_ms: Mapping[str, float] | None = None, logarithmic: bool = True
) -> go.Figure:
    """A bar from p50 to max a row, with a mark for each quantile, and a line for each timer.

    Args:
        rows: no two with the same label.
        timers_ms: name, as `rebalance 20 s`: where its line stands.
        logarithmic: the axis; zeros are drawn at 0.1 ms then.
    """
    labels = [style.label(*row.label) for row in rows]
    least = 0.1 if logarithmic else 0.0
    figure = go.Figure()
    figure.add_scatter(
        x=[x for row in rows for x in (max(row.p50, least), max(row.highest, least), None)],
        y=[text for text in labels for _ in range(3)],
        mode="lines",
        line={"color": style.ACCENT, "width": 4},
        opacity=0.35,
        hoverinfo="skip",
        showlegend=False,
    )
    for name, (symbol, size) in MARKS.items():
        values = [{"p50": r.p50, "p90": r.p90, "p99": r.p99, "max": r.highest}[name] for r in rows]
        figure.add_scatter(
            x=[max(value, least) for value in values],
            y=labels,
            mode="markers",
            name=name,
            marker={
                "symbol": symbol,
                "size": size,
                "color": style.ACCENT,
                "line": {"width": 2.5 if symbol in ("line-ns", "x-thin") else 0, "color": style.ACCENT},
            },
            hovertext=[
                style.hover(" ".join(row.label), f"{name} {value:,.1f} ms of {row.count:,}")
                for row, value in zip(rows, values, strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    lines = max((text.count("<br>") + 1 for text in labels), default=1)
    figure.update_layout(**style.layout(rows=len(rows), row_px=15 * lines + 14, around_px=130))
    figure.update_layout(
        showlegend=True, legend={"yref": "container", "y": 0, "yanchor": "bottom"}, margin={"t": 34}
    )
    _time_axis(figure, logarithmic)
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=labels, range=[len(rows) - 0.5, -0.5]
    )
    _timers(figure, timers_ms or {})
    return figure


def ecdf(
    series: Mapping[str, Sequence[tuple[float, float]]],
    timers_ms: Mapping[str, float] | None = None,
    logarithmic: bool = True,
) -> go.Figure:
    """Steps: which share took at most so long. `series`: name: pairs of milliseconds and share, ascending."""
    least = 0.1 if logarithmic else 0.0
    dashes = ("solid", "dash", "dot", "dashdot", "longdash")
    figure = go.Figure()
    for n, (name, points) in enumerate(series.items()):
        figure.add_scatter(
            x=[max(ms, least) for ms, _ in points],
            y=[share for _, share in points],
            mode="lines",
            line={"shape": "hv", "width": 2, "dash": dashes[n // len(style.COLOURWAY) % len(dashes)]},
            name=style.plain(name),
            hovertext=[style.hover(name, f"{share:.0%} within {ms:,.1f} ms") for ms, share in points],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.update_layout(**style.layout(height=360 + 9 * len(series)))
    figure.update_layout(
        showlegend=True, legend={"yref": "container", "y": 0, "yanchor": "bottom"}, margin={"t": 34}
    )
    _time_axis(figure, logarithmic)
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    _timers(figure, timers_ms or {})
    return figure


def _time_axis(figure: go.Figure, logarithmic: bool) -> None:
    steps = [0.1, 1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000]
    words = ["≤ 0.1 ms", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "1 min", "10 min", "1 h"]
    if logarithmic:
        figure.update_xaxes(type="log", tickvals=steps, ticktext=words, title="time, logarithmic")
    else:
        figure.update_xaxes(title="ms", rangemode="tozero")


def _timers(figure: go.Figure, timers_ms: Mapping[str, float]) -> None:
    for name, ms in timers_ms.items():
        figure.add_vline(x=ms, line={"color": style.BAD, "dash": "dash", "width": 1.4})
        figure.add_annotation(
            x=ms,
            y=1,
            yref="paper",
            yanchor="bottom",
            text=style.label(name, width=16),
            showarrow=False,
            font={"size": 10},
        )
