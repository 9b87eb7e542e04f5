"""Stacked bars: what became of the messages, or how the runs ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from rocketchaos.spark_reports.render import style
from rocketchaos.spark_reports.render.figures.rows import Rows


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar."""

    label: tuple[str, ...]
    """Bars with the same first part that follow one another are a group, whose name stands once."""
    counts: Mapping[str, int]
    """Kind: how many."""


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
        bars: as they shall stand.
        colours: of the kinds, `style.CLASS_COLOURS` for messages; every kind that occurs has one.
        words: how a kind is called in the legend.
        codes: the text in a part, with its number, so that a reader can do without the colours.
        unit: what is counted.
        shares: all bars equally long, 100 %; otherwise as long as their count.
    """
    strange = {kind for bar in bars for kind, count in bar.counts.items() if count} - set(colours)
    if strange:
        raise ValueError(f"no colours for {sorted(strange)}")
    figure, places = go.Figure(), Rows.of([bar.label for bar in bars])
    totals = [sum(bar.counts.values()) for bar in bars]
    for kind, colour in colours.items():
        counts = [bar.counts.get(kind, 0) for bar in bars]
        if not any(counts):
            continue
        word, code = (words or {}).get(kind, str(kind)), (codes or {}).get(kind, "")
        figure.add_bar(
            orientation="h",
            y=places.places,
            width=0.74,
            x=[c / t if shares and t else c for c, t in zip(counts, totals, strict=True)],
            name=style.plain(word),
            marker={"color": colour, "line": {"width": 0}},
            text=[f"{style.plain(code)} {count:,}".strip() if count else "" for count in counts],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertext=[
                style.hover(" · ".join(bar.label), f"{count:,} of {total:,} {unit} {word}")
                for bar, count, total in zip(bars, counts, totals, strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    places.layout(figure, around_px=100, least_px=30)
    figure.update_layout(
        barmode="stack",
        uniformtext={"minsize": 9, "mode": "hide"},
        showlegend=True,
        legend={"yref": "container", "y": 0, "yanchor": "bottom", "traceorder": "normal"},
    )
    figure.update_xaxes(
        title=style.plain(f"share of {unit}" if shares else unit),
        tickformat=".0%" if shares else None,
        range=[0, 1] if shares else None,
    )
    figure.update_yaxes(showgrid=False)
    return figure
