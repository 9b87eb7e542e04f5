"""Stacked bars: what became of the messages, or how the runs ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from spark_reports.render import style


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar."""

    label: tuple[str, ...]
    """Each part begins a line."""
    counts: Mapping[str, int]
    """Kind: so many."""


def stacked_bars(
    bars: Sequence[Bar],
    colours: Mapping[str, str],
    words: Mapping[str, str] | None = None,
    codes: Mapping[str, str] | None = None,
    unit: str = "messages",
    shares: bool = True,
) -> go.Figure:
    """Lying bars, the first on top, their parts in the order of `colours`; kinds that don't occur are left out.

    Args:
        bars: no two with the same label.
        colours: of the kinds, `style.CLASS_COLOURS` for messages; every kind that occurs has one.
        words: how a kind is called in the legend.
        codes: what stands within a part besides its number, so that nobody needs the colour.
        unit: what is counted.
        shares: all bars equally long, 100 %; otherwise as long as their count.
    """
    strange = {kind for bar in bars for kind, count in bar.counts.items() if count} - set(colours)
    if strange:
        raise ValueError(f"no colours for {sorted(strange)}")
    figure = go.Figure()
    labels = [style.label(*bar.label) for bar in bars]
    totals = [sum(bar.counts.values()) for bar in bars]
    for kind, colour in colours.items():
        counts = [bar.counts.get(kind, 0) for bar in bars]
        if not any(counts):
            continue
        word, code = (words or {}).get(kind, str(kind)), (codes or {}).get(kind, "")
        figure.add_bar(
            orientation="h",
            y=labels,
            x=[c / t if shares and t else c for c, t in zip(counts, totals, strict=True)],
            name=style.plain(word),
            marker={"color": colour, "line": {"width": 0}},
            text=[f"{style.plain(code)} {count:,}".strip() if count else "" for count in counts],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertext=[
                style.hover(" ".join(bar.label), f"{count:,} of {total:,} {unit} {word}")
                for bar, count, total in zip(bars, counts, totals, strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    lines = max((text.count("<br>") + 1 for text in labels), default=1)
    figure.update_layout(
        **style.layout(rows=len(bars), row_px=15 * lines + 16, around_px=110),
        barmode="stack",
        bargap=0.28,
        uniformtext={"minsize": 9, "mode": "hide"},
        showlegend=True,
        legend={"yref": "container", "y": 0, "yanchor": "bottom", "traceorder": "normal"},
    )
    figure.update_xaxes(
        title=style.plain(f"share of {unit}" if shares else unit),
        tickformat=".0%" if shares else None,
        range=[0, 1] if shares else None,
    )
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=labels,
        range=[len(bars) - 0.5, -0.5],
        showgrid=False,
    )
    return figure
