"""Heat maps: scenarios down, clients and versions across, a word or a number in every cell.

The name of a row stands above it, not at its side, so that a phone has room for the cells.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from rocketchaos.spark_reports.natural import natural
from rocketchaos.spark_reports.render import style

ROW_PX, NAME_PX, COLUMN_PX = 58, 20, 70
"""Height of a row with its name, of the name alone, and the least width of a column."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a heat map."""

    row: str
    """`same-group-different-tags`."""
    column: tuple[str, ...]
    """`("java", "5.3.3")`: each stands on a line of its own."""
    value: float | str | None
    """What decides its colour: a number for `share_map`, a name for `verdict_map`; None: nothing is known."""
    text: str
    """What stands in it, as short as `17/20`; `\\n` begins another line."""
    says: Sequence[str] = ()
    """The lines shown when it is pointed at."""
    leads_to: str | None = None
    """The anchor of the row that has its numbers."""


def share_map(cells: Sequence[Cell]) -> go.Figure:
    """Cells coloured by a number between 0 and 1. Rows stand as they first come, columns by name and version."""
    values = {_place(cell): cell.value for cell in cells if isinstance(cell.value, int | float)}
    return _map(cells, values, list(map(list, style.SHARE_SCALE)), (0.0, 1.0))


def verdict_map(cells: Sequence[Cell]) -> go.Figure:
    """Cells coloured by a name: `PASS`, `FLAKY`, `FAIL`. A legend has those that occur."""
    colours = style.VERDICT_COLOURS
    names = [name for name in colours if any(cell.value == name for cell in cells)]
    strange = {cell.value for cell in cells if cell.value is not None} - set(names)
    if strange:
        raise ValueError(f"no colours for {strange}")
    steps = max(1, len(names))
    scale = [
        [edge, colours[name]] for n, name in enumerate(names) for edge in (n / steps, (n + 1) / steps)
    ] or [[0, style.NEUTRAL], [1, style.NEUTRAL]]
    values = {_place(cell): names.index(str(cell.value)) + 0.5 for cell in cells if cell.value is not None}
    figure = _map(cells, values, scale, (0, steps))
    for name in names:
        marker = {"color": colours[name], "symbol": "square", "size": 12}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=style.plain(name))
    figure.update_layout(showlegend=True, legend={"yref": "container", "y": 0, "yanchor": "bottom"})
    return figure


def _place(cell: Cell) -> tuple[str, tuple[str, ...]]:
    return cell.row, cell.column


def _map(
    cells: Sequence[Cell],
    values: Mapping[tuple[str, tuple[str, ...]], float],
    scale: list[list[object]],
    bounds: tuple[float, float],
) -> go.Figure:
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = sorted({cell.column for cell in cells}, key=lambda column: list(map(natural, column)))
    at = {_place(cell): cell for cell in cells}
    places = [[(row, column) for column in columns] for row in rows]
    heads = [style.label(*column, width=14) for column in columns]
    figure = go.Figure(
        go.Heatmap(
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            z=[[values.get(place) for place in line] for line in places],
            text=[[_text(at.get(place)) for place in line] for line in places],
            hovertext=[[_hover(at.get(place), place) for place in line] for line in places],
            customdata=[[at[place].leads_to if place in at else None for place in line] for line in places],
            texttemplate="%{text}",
            hovertemplate="%{hovertext}<extra></extra>",
            hoverongaps=False,
            colorscale=scale,
            zmin=bounds[0],
            zmax=bounds[1],
            showscale=False,
            showlegend=False,
            xgap=3,
            ygap=NAME_PX,
        )
    )
    names = [
        {
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": n - 0.5,
            "text": style.plain(row),
            "showarrow": False,
        }
        for n, row in enumerate(rows)
    ]
    # A gap in the data has no colour, and plotly writes nothing in it: a text next to it says so.
    gaps = [
        {"x": x, "y": y, "text": _text(at.get(place)) or "–", "showarrow": False}
        for y, line in enumerate(places)
        for x, place in enumerate(line)
        if place not in values
    ]
    figure.update_layout(
        # At once: plotly checks all that there are whenever one is added.
        annotations=[*names, *gaps],
        **style.layout(rows=len(rows), row_px=ROW_PX, around_px=54 + 16 * _lines(heads)),
        meta={"min_width": 24 + COLUMN_PX * len(columns)},
    )
    axis = {"showgrid": False, "zeroline": False, "tickmode": "array"}
    figure.update_xaxes(side="top", tickangle=0, tickvals=list(range(len(columns))), ticktext=heads, **axis)
    figure.update_yaxes(range=[len(rows) - 0.45, -0.75], tickvals=[], **axis)
    return figure


def _lines(labels: Sequence[str]) -> int:
    return max((label.count("<br>") + 1 for label in labels), default=1)


def _text(cell: Cell | None) -> str:
    return "<br>".join(style.plain(line) for line in cell.text.split("\n")) if cell else ""


def _hover(cell: Cell | None, place: tuple[str, tuple[str, ...]]) -> str:
    return style.hover(place[0], " · ".join(place[1]), *(cell.says if cell else ("no runs",)))
