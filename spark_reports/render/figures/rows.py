"""Rows of a figure that share their first name: it stands once, above them, so that a phone has room for marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import plotly.graph_objects as go

from rocketchaos.spark_reports.render import style

HEAD = 0.9
"""Room for a group's name, in rows."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Where each row of a figure stands on its upward axis, the first on top."""

    places: Sequence[float]
    labels: Sequence[str]
    heads: Sequence[tuple[float, str]]
    """Of groups: the place of the name, and the name."""
    height: float
    """Of all, in rows."""
    lines: int
    """Of the label that has most."""

    @classmethod
    def of(cls, labels: Sequence[tuple[str, ...]]) -> Rows:
        """Places for labels; rows that follow one another with the same first part are a group.

        Labels of one part stand next to their rows.
        """
        places, own, heads, at = [], [], [], 0.0
        for (name, grouped), group in groupby(labels, lambda label: (label[0], len(label) > 1)):
            if grouped:
                heads.append((-(at + HEAD / 2), style.plain(name)))
                at += HEAD
            for label in group:
                places.append(-(at + 0.5))
                own.append(style.label(*(label[1:] if grouped else label)))
                at += 1
        return cls(places, own, heads, at, max((item.count("<br>") + 1 for item in own), default=1))

    def layout(self, figure: go.Figure, around_px: int, least_px: int = 26) -> None:
        """Give the figure its height, its upward axis and the names of its groups."""
        row_px = max(least_px, 15 * self.lines + 8)
        figure.update_layout(**style.layout(height=max(160, round(self.height * row_px) + around_px)))
        figure.update_yaxes(
            tickmode="array",
            tickvals=self.places,
            ticktext=self.labels,
            range=[-self.height - 0.1, 0.1],
            zeroline=False,
        )
        for place, name in self.heads:
            figure.add_annotation(
                x=0,
                xref="x domain",
                xanchor="left",
                y=place,
                text=f"<b>{name}</b>",
                showarrow=False,
                align="left",
            )
