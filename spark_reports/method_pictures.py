"""Pictures that explain the methods of reports, made by the methods themselves from simulated runs: SVG.

Colours follow the page: `currentColor` for lines and text, an accent for what the picture is about.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from rocketchaos.harness.core.intervals import wilson_interval
from rocketchaos.spark_reports.statistics.change_points import segment
from rocketchaos.spark_reports.statistics.exact import Significance
from rocketchaos.spark_reports.statistics.fisher import fisher
from rocketchaos.spark_reports.statistics.multiple import benjamini_hochberg
from rocketchaos.spark_reports.statistics.score import STEADY_RATE, chance_above
from rocketchaos.spark_reports.statistics.tarone import FAMILY_WISE, tarone_holm

_WIDTH, _HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 620, 14, 180
_ACCENT = "#c2410c"
_SEED = 20
"""The same pictures every time."""


class _Plot:
    """An SVG picture with two axes."""

    def __init__(self, label: str, x: tuple[float, float], y: tuple[float, float]) -> None:
        self._label, self._x, self._y = label, x, y
        self._parts: list[str] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        (low, high), (bottom, top) = self._x, self._y
        return (
            round(_LEFT + (x - low) / (high - low) * (_RIGHT - _LEFT), 1),
            round(_BOTTOM - (y - bottom) / (top - bottom) * (_BOTTOM - _TOP), 1),
        )

    def line(
        self, start: tuple[float, float], end: tuple[float, float], style: str = "", width: float = 1.5
    ) -> None:
        (x, y), (other, last) = self.at(*start), self.at(*end)
        self._parts.append(
            f'<line x1="{x}" y1="{y}" x2="{other}" y2="{last}" stroke-width="{width:g}"'
            f"{style or _plain('stroke')}/>"
        )

    def dot(self, x: float, y: float, style: str = "") -> None:
        across, down = self.at(x, y)
        self._parts.append(f'<circle cx="{across}" cy="{down}" r="3"{style or _plain("fill")}/>')

    def text(self, x: float, y: float, words: str, anchor: str = "start") -> None:
        across, down = self.at(x, y)
        self._parts.append(
            f'<text x="{across}" y="{down}" text-anchor="{anchor}"{_plain("fill")}>{words}</text>'
        )

    def axis(self, words: str, ticks: Sequence[float]) -> None:
        bottom = self._y[0]
        for tick in ticks:
            across, down = self.at(tick, bottom)
            self._parts.append(
                f'<text x="{across}" y="{down + 16}" text-anchor="middle"{_plain("fill")}>{tick:g}</text>'
            )
        middle = (_LEFT + _RIGHT) / 2
        self._parts.append(
            f'<text x="{middle}" y="{_HEIGHT - 4}" text-anchor="middle"{_plain("fill")}>{words}</text>'
        )

    def side(self, ticks: Sequence[float], percent: bool = False) -> None:
        for tick in ticks:
            _, down = self.at(self._x[0], tick)
            shown = f"{tick:.0%}" if percent else f"{tick:g}"
            self._parts.append(
                f'<text x="{_LEFT - 6}" y="{down + 4}" text-anchor="end"{_plain("fill")}>{shown}</text>'
            )

    def svg(self) -> str:
        return (
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{self._label}" '
            'style="max-width: 640px; width: 100%" font-family="system-ui, sans-serif" font-size="12">'
            f"{''.join(self._parts)}</svg>"
        )


def _plain(what: str) -> str:
    return f' {what}="currentColor"'


def _accent(what: str) -> str:
    return f' {what}="{_ACCENT}"'


def _dashed() -> str:
    return ' stroke="currentColor" stroke-dasharray="4 4"'


def _intervals() -> tuple[str, str]:
    """60 nights with 20 runs each of a cell that ends as expected in 85 of 100 runs."""
    true, runs, nights = 0.85, 20, 60
    hits = np.random.default_rng(_SEED).binomial(runs, true, nights)
    plot = _Plot("Sixty intervals, and the true share", (0, nights), (0.4, 1.0))
    missed = 0
    for place, hit in enumerate(hits):
        low, high = wilson_interval(int(hit), runs)
        outside = not low <= true <= high
        missed += outside
        style = _accent("stroke") if outside else ' stroke="currentColor" stroke-opacity="0.5"'
        plot.line((place + 0.5, low), (place + 0.5, high), style, 3)
    plot.line((0, true), (nights, true), _dashed())
    plot.axis("60 nights of 20 runs each", ())
    plot.side((0.4, 0.6, 0.8, 1.0), percent=True)
    return plot.svg(), (
        f"Simulated: 60 nights of a cell with a true share of 85 % (dashed). {nights - missed} intervals "
        f"contain it, {missed} don't (orange); 3 are usual."
    )


def _steady() -> tuple[str, str]:
    """The chance that a cell is steady, by the number of runs without an exception, and with one."""
    plot = _Plot("Chance that a cell is steady, by runs", (0, 40), (0, 1))
    for misses, style in ((0, _accent("fill")), (1, _plain("fill"))):
        for runs in range(1 + misses, 41):
            plot.dot(runs, chance_above(STEADY_RATE, runs - misses, runs), style)
    plot.line((0, 0.95), (40, 0.95), _dashed())
    plot.axis("runs", (0, 10, 18, 30, 40))
    plot.side((0, 0.5, 0.95), percent=True)
    return plot.svg(), (
        "The chance that more than 90 % of all runs end alike. Orange: no exception so far. Black: one exception."
    )


def _change() -> tuple[str, str]:
    """100 runs whose share falls from 95 % to 50 % after the sixtieth."""
    chance = np.random.default_rng(_SEED + 1)
    ends = [*(chance.random(60) < 0.95), *(chance.random(40) < 0.5)]
    found = segment([1] * 100, [int(end) for end in ends], chance)
    plot = _Plot("A row of runs, and where its share changed", (0, 100), (-0.1, 1.1))
    for place, end in enumerate(ends):
        plot.dot(place, float(end), _plain("fill") if end else _accent("fill"))
    edges = [0, *(change.at for change in found), 100]
    for begin, end in pairwise(edges):
        share = sum(ends[begin:end]) / (end - begin)
        plot.line((begin, share), (end, share), _accent("stroke"), 3)
    plot.axis("runs, in order of time", (0, 20, 40, 60, 80, 100))
    plot.side((0, 0.5, 1), percent=True)
    places = ", ".join(str(change.at) for change in found) or "nowhere"
    return plot.svg(), (
        f"Simulated: the share falls from 95 % to 50 % after run 60. Found: after run {places}. "
        "The place is an estimate. Lines are the shares."
    )


def _discovered() -> tuple[str, str]:
    """The sorted p-values of 60 cells, of which 8 really changed."""
    chance = np.random.default_rng(_SEED + 2)
    values = sorted([*chance.random(52), *(chance.random(8) * 0.006)])
    kept = sum(p < FAMILY_WISE for p in benjamini_hochberg(values))
    plain = sum(p < FAMILY_WISE for p in values)
    plot = _Plot("Sorted p-values, and the line of Benjamini and Hochberg", (0, 20), (0, 0.1))
    for place, p in enumerate(values[:20], start=1):
        if p <= 0.1:
            plot.dot(place, p, _accent("fill") if place <= kept else _plain("fill"))
    plot.line((0, 0), (20, FAMILY_WISE * 20 / 60), _accent("stroke"))
    plot.line((0, FAMILY_WISE), (20, FAMILY_WISE), _dashed())
    plot.axis("cells, by rising p", (1, 5, 10, 15, 20))
    plot.side((0, 0.05, 0.1))
    return plot.svg(), (
        f"Simulated: 60 cells, of which 8 changed. {plain} have p below 0.05 (dashed). The correction "
        f"keeps {kept} (orange): those up to the last one below the rising line."
    )


def _family() -> tuple[str, str]:
    """How many of 500 reports on nothing name a difference, by their number of rows."""
    chance, sizes, reports = np.random.default_rng(_SEED + 3), (1, 5, 10, 20, 40), 500
    tests: dict[tuple[int, int], Significance] = {}
    plot = _Plot("Share of reports with a false difference, by rows", (0, 44), (0, 1))
    last = (0.0, 0.0)
    for size in sizes:
        alarms, corrected = 0, 0
        for hits in chance.binomial(30, 0.7, (reports, size, 2)):
            own = [tests.setdefault((a, b), fisher(a, 30, b, 30)) for a, b in hits.tolist()]
            alarms += any(test.p < FAMILY_WISE for test in own)
            corrected += any(p < FAMILY_WISE for p in tarone_holm(own))
        last = (alarms / reports, corrected / reports)
        plot.line((size - 0.7, 0), (size - 0.7, last[0]), ' stroke="currentColor" stroke-opacity="0.5"', 9)
        plot.line((size + 0.7, 0), (size + 0.7, last[1]), _accent("stroke"), 9)
    plot.line((0, FAMILY_WISE), (44, FAMILY_WISE), _dashed())
    plot.axis("rows of the report", sizes)
    plot.side((0, 0.5, 1), percent=True)
    return plot.svg(), (
        f"Simulated: 500 reports for each size in which nothing differs. With 40 rows {last[0]:.0%} of them "
        f"name a difference without a correction (grey), and {last[1]:.0%} with it (orange). "
        "Dashed: one of twenty."
    )


def _sides() -> tuple[str, str]:
    """Load in runs that went wrong, and in good ones of the same cell."""
    chance = np.random.default_rng(_SEED + 4)
    good, bad = chance.normal(1.5, 0.7, 40).clip(0), chance.normal(2.6, 0.7, 12).clip(0)
    wins = float(np.mean(bad[:, None] > good[None, :]))
    plot = _Plot("Load of good runs and of runs that went wrong", (0, 5), (0, 3))
    for values, height, style in ((good, 1, _plain("fill")), (bad, 2, _accent("fill"))):
        for value, shift in zip(values, chance.uniform(-0.25, 0.25, len(values)), strict=True):
            plot.dot(float(value), height + float(shift), style)
    plot.text(4.9, 0.95, "good runs", "end")
    plot.text(4.9, 1.95, "runs that went wrong", "end")
    plot.axis("load", (0, 1, 2, 3, 4, 5))
    return plot.svg(), (
        f"Simulated: of all pairs of an orange and a black dot, the orange one is further right in {wins:.0%}. "
        f"That is the probability of superiority. Cliff's delta of the two sides is {2 * wins - 1:.2f}."
    )


_PICTURES: Mapping[str, Callable[[], tuple[str, str]]] = {
    "wilson": _intervals,
    "jeffreys": _steady,
    "change-points": _change,
    "benjamini-hochberg": _discovered,
    "tarone-holm": _family,
    "superiority": _sides,
}


def pictures() -> Mapping[str, tuple[str, str]]:
    """The pictures by the ids of their methods: the SVG, and the words below it."""
    return {method: draw() for method, draw in _PICTURES.items()}
