"""The look of every figure: one colour for one meaning, in the dark too, on a phone and on paper.

Colours stand on white and on a dark card, so they are neither pale nor black; where two kinds of colour vision
can't tell them apart, the word in or next to the mark does. Text of axes, grid lines and legends get their
colours from the page, which knows whether it is dark.
"""

import html
from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from plotly.graph_objects import layout as parts

from rocketchaos.harness.core.model import MessageClass
from rocketchaos.harness.core.text import one_line

GOOD, DOUBTFUL, BAD, NEUTRAL, ACCENT = "#12876a", "#dd9b00", "#c22f4b", "#858d98", "#3a76c4"

CLASS_COLOURS: Mapping[MessageClass, str] = {
    MessageClass.DELIVERED: "#2b9d78",
    MessageClass.FILTERED_BY_BROKER: "#dd9b00",
    MessageClass.FILTERED_BY_CLIENT: "#d9603b",
    MessageClass.STRANDED: "#8b5fd0",
    MessageClass.IN_FLIGHT: "#3a76c4",
    MessageClass.IN_RETRY: "#27a3b3",
    MessageClass.DEAD_LETTER: "#96643c",
    MessageClass.LOST: "#b3102a",
    MessageClass.UNDETERMINED: "#858d98",
}
"""The colours of message classes, similar to those of the run's own page."""

VERDICT_COLOURS: Mapping[str, str] = {"PASS": GOOD, "FLAKY": DOUBTFUL, "FAIL": BAD, "UNKNOWN": NEUTRAL}
"""The colours of a cell's verdict."""

VERDICT_SYMBOLS: Mapping[str, str] = {
    "PASS": "circle",
    "FLAKY": "diamond",
    "FAIL": "x",
    "UNKNOWN": "circle-open",
}
"""The symbol of its mark, so that a reader can do without the colour."""

COLOURWAY: tuple[str, ...] = (
    "#3a76c4",
    "#d9603b",
    "#2b9d78",
    "#8b5fd0",
    "#dd9b00",
    "#27a3b3",
    "#c2558f",
    "#96643c",
)
"""Of series that have no meaning of their own: clients, versions."""

SHARE_SCALE: tuple[tuple[float, str], ...] = (
    (0.0, "#eef3fa"),
    (0.25, "#bcd4ef"),
    (0.5, "#7fabdf"),
    (0.75, "#3f79c2"),
    (1.0, "#14427f"),
)
"""From 0 to 1, light to dark: it is read without seeing colours."""

FONT = "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"
LABEL_WIDTH = 26
"""Characters in a line of an axis label; names are broken beyond, so that a phone has room for the figure."""

_GRID, _TEXT = "rgba(128, 138, 152, .28)", "#5b6470"
_AXIS = {
    "gridcolor": _GRID,
    "linecolor": _GRID,
    "zerolinecolor": _GRID,
    "zerolinewidth": 1,
    "automargin": True,
    "title": {"standoff": 10},
    "ticks": "",
    "fixedrange": True,
}
TEMPLATE = parts.Template(
    layout={
        "font": {"family": FONT, "size": 12, "color": _TEXT},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": COLOURWAY,
        "xaxis": _AXIS,
        "yaxis": {**_AXIS, "ticklabelstandoff": 6},
        "hoverlabel": {"align": "left", "namelength": -1, "font": {"family": FONT, "size": 12}},
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "title": {"text": ""}},
    }
)
"""The common style of all figures."""


def layout(rows: int = 0, row_px: int = 34, around_px: int = 90, **more: Any) -> dict[str, Any]:
    """Keywords for `Figure.update_layout`: as wide as there is room, as high as its rows need.

    Args:
        rows: of the figure, where it has rows; otherwise it gets a height of its own.
        row_px: height of each.
        around_px: for axes and legend.
        more: taken over as it is, and wins.
    """
    return {
        "template": TEMPLATE,
        "autosize": True,
        "height": max(160, rows * row_px + around_px) if rows else 320,
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
        "dragmode": False,
        **more,
    }


def plain(value: object) -> str:
    """A stranger's text for a figure: on one line, and nothing of it is markup (figures know some of HTML's)."""
    return html.escape(one_line(value), quote=False)


def label(*values: object, width: int = LABEL_WIDTH) -> str:
    """Strangers' texts as a label of an axis: each begins a line, long ones are broken at hyphens and spaces."""
    lines = [line for value in values for line in wrap(one_line(value), width) or [""]]
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def hover(head: object, *lines: object) -> str:
    """What a figure shows for one mark on hover or touch."""
    texts = [line for value in lines for line in wrap(one_line(value), 60) or [""]]
    head_text = "<br>".join(f"<b>{plain(line)}</b>" for line in wrap(one_line(head), 60))
    return "<br>".join([head_text, *(plain(text) for text in texts)])
