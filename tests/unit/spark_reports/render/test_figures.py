"""The kinds of figures: their data, and what they leave to see without colours."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest
from plotly.graph_objects import Heatmap

from rocketchaos.harness.core.model import MessageClass
from rocketchaos.spark_reports.render import style
from rocketchaos.spark_reports.render.figures import heat_map
from rocketchaos.spark_reports.render.figures.bars import Bar, stacked_bars
from rocketchaos.spark_reports.render.figures.forest import Estimate, forest
from rocketchaos.spark_reports.render.figures.heat_map import Cell, share_map, verdict_map
from rocketchaos.spark_reports.render.figures.rows import HEAD, Rows
from rocketchaos.spark_reports.render.figures.timers import Quantiles, quantile_ranges
from rocketchaos.spark_reports.render.figures.trend import trend


def test_every_class_has_a_colour_of_its_own() -> None:
    assert set(style.CLASS_COLOURS) == set(MessageClass)
    assert len(set(style.CLASS_COLOURS.values())) == len(MessageClass)
    assert set(style.VERDICT_SYMBOLS) == set(style.VERDICT_COLOURS)


def test_a_heat_map_has_its_cells_where_they_belong_and_words_where_nothing_is_known() -> None:
    figure = share_map(
        [
            Cell("x", ("java", "5"), 0.5, "1/2"),
            Cell("y", ("grpc", "5"), None, "errors only"),
            Cell("y", ("java", "5"), 1, "2/2"),
        ]
    )
    heat = figure.data[0]
    assert isinstance(heat, Heatmap)
    assert [list(line) for line in heat.z] == [[None, 0.5], [None, 1]]
    assert [list(line) for line in heat.text] == [["", "1/2"], ["errors only", "2/2"]]
    assert [annotation.text for annotation in figure.layout.annotations] == ["x", "y", "–", "errors only"]
    assert list(figure.layout.xaxis.ticktext) == ["grpc<br>5", "java<br>5"]


def test_a_heat_map_of_very_many_rows_takes_no_longer_for_each() -> None:
    """Plotly checks all annotations that there are at each one that is added."""
    asked = 0

    class Counting(go.Figure):  # type: ignore[misc]
        def add_annotation(self, *arguments: Any, **more: Any) -> Any:
            nonlocal asked
            asked += 1
            return super().add_annotation(*arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heat_map.go, "Figure", Counting)
        figure = share_map([Cell(f"s{n}", ("java",), None, "–") for n in range(50)])
    assert (len(figure.layout.annotations), asked) == (100, 0)


def test_columns_stand_by_client_and_version() -> None:
    columns = [("java", "5.10.0"), ("java", "5.9.1"), ("grpc", "5.3.3"), ("java", "4.9.3")]
    figure = share_map([Cell("x", column, 1, "1") for column in columns])
    assert list(figure.layout.xaxis.ticktext) == [
        "grpc<br>5.3.3",
        "java<br>4.9.3",
        "java<br>5.9.1",
        "java<br>5.10.0",
    ]


def test_a_verdict_has_its_colour_and_its_word() -> None:
    figure = verdict_map(
        [Cell("x", ("java",), "FAIL", "FAIL\n0/9"), Cell("y", ("java",), "PASS", "PASS\n9/9")]
    )
    heat = figure.data[0]
    assert [list(line) for line in heat.z] == [[1.5], [0.5]]
    assert (heat.zmin, heat.zmax) == (0, 2)
    assert [tuple(step) for step in heat.colorscale] == [
        (0, style.GOOD),
        (0.5, style.GOOD),
        (0.5, style.BAD),
        (1, style.BAD),
    ]
    assert [item.name for item in figure.data[1:]] == ["PASS", "FAIL"]


def test_a_verdict_without_a_colour_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="no colours"):
        verdict_map([Cell("x", ("java",), "MAYBE", "?")])


def test_a_figure_grows_with_its_rows() -> None:
    few, many = (
        share_map([Cell(f"s{n}", ("java",), 1, "1") for n in range(count)]).layout.height for count in (4, 40)
    )
    assert many > 7 * few


def test_rows_of_a_group_stand_below_its_name() -> None:
    rows = Rows.of([("x", "java"), ("x", "grpc"), ("alone",), ("y", "java")])
    assert rows.heads == [(-HEAD / 2, "x"), (-(HEAD + 3 + HEAD / 2), "y")]
    assert rows.places == pytest.approx([-(HEAD + 0.5), -(HEAD + 1.5), -(HEAD + 2.5), -(2 * HEAD + 3.5)])
    assert rows.labels == ["java", "grpc", "alone", "java"]
    assert rows.height == pytest.approx(4 + 2 * HEAD)


def test_a_forest_has_points_with_intervals_and_rows_of_which_nothing_is_known() -> None:
    figure = forest(
        [
            Estimate(("x", "java"), 0.5, 0.2, 0.9, "3/6", "FLAKY"),
            Estimate(("x", "grpc"), None, None, None, "errors only", "UNKNOWN"),
        ],
        "P",
        bounds=(0, 1),
        reference=0.5,
    )
    points, texts = figure.data
    assert list(points.x) == [0.5]
    assert points.error_x.array == pytest.approx([0.4])
    assert points.error_x.arrayminus == pytest.approx([0.3])
    assert points.marker.symbol == "diamond"
    assert list(texts.x) == [0.9, 0]
    assert [text.strip() for text in texts.text] == ["3/6", "errors only"]


def test_bars_are_shares_of_what_was_counted_and_tell_the_count() -> None:
    figure = stacked_bars(
        [Bar(("x", "java"), {"delivered": 3, "lost": 1}), Bar(("x", "grpc"), {})],
        style.CLASS_COLOURS,
        codes={"delivered": "D"},
    )
    assert [(item.name, list(item.x), list(item.text)) for item in figure.data] == [
        ("delivered", [0.75, 0], ["D 3", ""]),
        ("lost", [0.25, 0], ["1", ""]),
    ]
    with pytest.raises(ValueError, match="mystery"):
        stacked_bars([Bar(("x",), {"mystery": 1})], style.CLASS_COLOURS)


def test_names_of_near_timers_stand_at_steps() -> None:
    figure = quantile_ranges(
        [Quantiles(("rebalance", "java"), 1, 2, 3, 4, 9)], {"b": 30_000, "a": 20_000, "far": 10}
    )
    steps = {
        annotation.text: annotation.yshift
        for annotation in figure.layout.annotations
        if annotation.yshift is not None
    }
    assert steps["far"] == steps["a"] == 0
    assert steps["b"] > 0
    at = {annotation.text: annotation.x for annotation in figure.layout.annotations}
    assert at["far"] == pytest.approx(1)


def _of(figure: Any, name: str) -> Any:
    return next(item for item in figure.data if item.name == name)


def test_zero_stands_at_the_edge_of_a_logarithmic_axis() -> None:
    rows = [Quantiles(("x", "java"), 0.0, 4.0, 8.0, 8.0, 2)]
    assert _of(quantile_ranges(rows), "p50").x[0] == 0.1


def test_a_timer_of_zero_stands_there_too() -> None:
    figure = quantile_ranges([Quantiles(("x", "java"), 1.0, 4.0, 8.0, 8.0, 2)], {"never": 0})
    assert [
        (annotation.text, annotation.x)
        for annotation in figure.layout.annotations
        if annotation.text == "never"
    ] == [("never", -1)]


def test_figures_of_nothing_are_empty_figures() -> None:
    for figure in (
        share_map([]),
        verdict_map([]),
        forest([], "x"),
        stacked_bars([], {}),
        trend([]),
        quantile_ranges([]),
    ):
        assert figure.layout.height >= 100


def test_labels_are_broken_and_hold_no_markup() -> None:
    assert (
        style.label("same-group-different-tags-for-long", "<b>x")
        == "same-group-different-tags-<br>for-long<br>&lt;b&gt;x"
    )
    assert "<a" not in style.hover("<a href='x'>", "<a>")
