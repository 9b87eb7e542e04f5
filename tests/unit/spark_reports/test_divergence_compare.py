from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.divergence.cells import pairs
from rocketchaos.spark_reports.divergence.compare import Judged, Verdict, compare
from rocketchaos.spark_reports.divergence.read import Facts
from rocketchaos.spark_reports.statistics.bounded_mean import mean
from rocketchaos.spark_reports.statistics.interval import Interval
from tests.unit.spark_reports.divergence_facts import cell, ended, facts

FILTERED = {"delivered": 4, "filtered-by-client": 4}
WHOLE = {"delivered": 8}


def compared_pair(judged: list[Judged], what: str) -> Judged:
    (found,) = (own for own in judged if own.compared.what == what)
    return found


def test_pairs_differ_in_one_thing_alone() -> None:
    cells = [
        cell("java", "5.3.3"),
        cell("java", "5.10.0"),
        cell("python", "5.10.0"),
        cell("java", scenario="x"),
    ]
    assert [(pair.dimension, pair.values, pair.alike) for pair in pairs(cells)] == [
        ("client", ("java", "python"), "5.10.0 embedded compressed"),
        ("rocketmq", ("5.3.3", "5.10.0"), "java embedded compressed"),
    ]


def test_one_client_is_compared_on_two_versions_of_brokers_whatever_it_is_called() -> None:
    cells = [cell("java", "4.9.4"), cell("java 5.5.0", "4.9.4"), cell("java", "5.5.0"), cell("grpc 5.0.6")]
    assert [(pair.dimension, pair.values, pair.alike) for pair in pairs(cells)] == [
        ("client", ("grpc 5.0.6", "java"), "5.5.0 embedded compressed"),
        ("client", ("java", "java 5.5.0"), "4.9.4 embedded compressed"),
        ("rocketmq", ("4.9.4", "5.5.0"), "java embedded compressed"),
        ("broker", ("4.9.4", "5.5.0"), "java 5.5.0 embedded compressed"),
    ]
    # Called alike on both, it is compared once.
    both = [cell("python 2.0.0", "4.9.4"), cell("python 2.0.0")]
    assert [pair.dimension for pair in pairs(both)] == ["rocketmq"]


def test_cells_whose_runs_are_all_alike_diverge() -> None:
    judged = compare(facts({cell("java"): [FILTERED] * 20, cell("python"): [WHOLE] * 20}))
    found = compared_pair(judged, "filtered-by-client")
    assert found.verdict is Verdict.DIVERGES
    assert found.p_corrected < 1e-9
    assert found.compared.messages == 8
    difference = found.compared.difference.times(8)
    assert difference.point == 4
    # What one side has not shown in 20 runs yet is still possible.
    assert 2.4 < difference.low < 4 < difference.high < 5
    assert found.compared.delta
    assert found.compared.delta.point == 1
    assert compared_pair(judged, "reproduced").verdict is Verdict.ALIKE


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (1, 20)])
def test_few_runs_are_said(first: int, second: int) -> None:
    judged = compare(facts({cell("java"): [FILTERED] * first, cell("python"): [WHOLE] * second}))
    found = compared_pair(judged, "delivered")
    assert found.verdict is Verdict.EXACT
    assert np.isfinite([*found.compared.difference, *found.compared.delta, found.p_corrected]).all()


@pytest.mark.parametrize("scenarios", [1, 2, 7, 30])
def test_as_many_runs_as_are_said_to_settle_it_do(scenarios: int) -> None:
    def report(runs: int) -> list[Judged]:
        cells = {cell("java", scenario=f"s{n}"): [FILTERED] * runs for n in range(scenarios)}
        return compare(facts(cells | {where._replace(client="python"): [WHOLE] * runs for where in cells}))

    settling = {found.settling_runs for found in report(3) if found.differs}
    (runs,) = settling
    assert runs is not None
    assert {found.verdict for found in report(runs) if found.differs} == {Verdict.DIVERGES}
    assert {found.verdict for found in report(3) if found.differs} == {Verdict.EXACT}
    assert {found.settling_runs for found in report(runs)} == {None}


def test_what_is_not_alike_in_all_runs_is_not_exact() -> None:
    mixed = {cell("java"): [FILTERED, FILTERED, WHOLE], cell("python"): [WHOLE] * 3}
    found = compared_pair(compare(facts(mixed)), "delivered")
    assert found.verdict is Verdict.TOO_FEW
    assert found.settling_runs == 5
    ends = {
        cell("java"): [ended("reproduced", 3)],
        cell("python"): [ended("not-reproduced", 2), ended("reproduced", 1)],
    }
    (outcome,) = compare(facts({}, ends))
    assert outcome.verdict is Verdict.TOO_FEW


def test_a_few_of_many_messages_are_distinguished_from_none() -> None:
    def runs(lost: int) -> list[dict[str, int]]:
        return [{"delivered": 540 - lost - n % 3, "lost": lost + n % 3} for n in range(16)]

    found = compared_pair(compare(facts({cell("java"): runs(25), cell("python"): runs(0)})), "lost")
    assert found.verdict is Verdict.DIVERGES
    difference = found.compared.difference.times(540)
    assert difference.point == pytest.approx(25)
    # 16 runs leave room for one in five that loses all: they differ, and by how much is not known yet.
    assert difference.low < 0
    assert 100 < difference.high < 140


@pytest.mark.parametrize("run", [FILTERED, {"delivered": 1, "lost": 4}])
def test_equal_cells_are_alike(run: dict[str, int]) -> None:
    judged = compare(facts({cell("java"): [run] * 20, cell("python"): [run] * 3}))
    assert {own.verdict for own in judged} == {Verdict.ALIKE}


def test_a_rare_fate_that_has_not_come_yet_is_within_the_interval() -> None:
    """One run in ten may lose all, and ten runs out of ten may well not show it."""
    found = compared_pair(
        compare(facts({cell("java"): [FILTERED] * 10, cell("python"): [FILTERED] * 10})), "delivered"
    )
    assert found.compared.difference.low < -0.1 * 4 / 8
    assert found.compared.difference.high > 0.1 * 4 / 8


def test_a_side_without_runs_that_count_is_not_compared() -> None:
    without = {
        cell("python"): [ended("error", 9, trouble="environment"), ended("inconclusive", 2, trouble="usage")]
    }
    assert compare(facts({cell("java"): [FILTERED] * 20}, without)) == []


def test_different_numbers_of_messages_are_compared_as_shares() -> None:
    half = [{"delivered": 4, "lost": 4}] * 10 + [{"delivered": 8, "lost": 8}] * 10
    judged = compare(facts({cell("java"): half, cell("python"): [{"delivered": 16}] * 20}))
    found = compared_pair(judged, "lost").compared
    assert found.messages is None
    assert found.difference.point == 0.5
    same = compare(facts({cell("java"): half, cell("python"): [{"delivered": 50, "lost": 50}] * 20}))
    assert {own.verdict for own in same} == {Verdict.ALIKE}


def test_outcomes_have_fishers_p_and_newcombes_interval() -> None:
    ends = {
        cell("java"): [ended("reproduced", 18), ended("not-reproduced", 2), ended("error", 5)],
        cell("python"): [ended("reproduced", 3), ended("inconclusive", 17)],
    }
    found = compared_pair(compare(facts({where: [WHOLE] * 20 for where in ends}, ends)), "reproduced")
    assert found.verdict is Verdict.DIVERGES
    assert found.compared.runs == (20, 20)
    assert found.compared.difference == pytest.approx((0.75, 0.47, 0.87), abs=0.02)


def test_runs_are_not_chosen_by_how_they_ended() -> None:
    """A precondition that didn't hold is an end of the product's: what it didn't reach counts against it."""
    hits = ended("reproduced", 2, "reproduced", True)
    unmet = ended("inconclusive", 18, "reproduced", False, trouble="precondition")
    ends = {
        cell("java"): [unmet, hits],
        cell("python"): [ended("reproduced", 20, "reproduced", True)],
    }
    known = facts({cell("java"): [WHOLE] * 2, cell("python"): [WHOLE] * 20}, ends)
    found = compared_pair(compare(known), "reproduced")
    assert found.verdict is Verdict.DIVERGES
    assert (found.compared.runs, found.compared.sides) == ((20, 20), (0.1, 1.0))
    # What became of messages such a run doesn't show.
    assert compared_pair(compare(known), "delivered").compared.runs == (2, 20)


def test_the_worst_comes_first_and_unknown_fates_last() -> None:
    judged = compare(
        facts(
            {
                cell("java"): [{"delivered": 4, "lost": 2, "undetermined": 2}] * 20,
                cell("python"): [{"delivered": 5, "lost": 0, "undetermined": 3}] * 20,
                cell("grpc"): [{"undetermined": 8}] * 20,
            }
        )
    )
    diverging = [own.compared for own in judged if own.verdict is Verdict.DIVERGES]
    assert (diverging[0].what, diverging[0].pair.values) == ("delivered", ("grpc", "python"))
    assert [own.what for own in diverging[-3:]] == ["undetermined"] * 3


def _noisy(seed: int, planted: float = 0.0) -> Facts:
    """Cells of one distribution, of which one run in ten is another one; but for one cell if planted."""
    draw = np.random.default_rng(seed)
    cells: dict[Cell, list[dict[str, int]]] = {}
    endings = {}
    for scenario in ("one", "two"):
        for client in ("grpc", "java", "python"):
            for version in ("4.9.4", "5.5.0"):
                where = cell(client, version, scenario)
                odd = planted if where == cell("java", "5.5.0", "one") else 0.0
                lost = np.where(draw.random(20) < 0.1, draw.integers(0, 9, 20), 2)
                lost = np.where(draw.random(20) < odd, 6, lost)
                cells[where] = [{"delivered": 8 - int(n), "lost": int(n)} for n in lost]
                hits, unmet, misses = map(int, draw.multinomial(20, [0.7, 0.1, 0.2]))
                endings[where] = [
                    ended("reproduced", hits),
                    ended("inconclusive", unmet, trouble="precondition"),
                    ended("not-reproduced", misses),
                ]
    return facts(cells, endings)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without intervals, which decide nothing: many reports in a test's time."""

    def wide(item: dict[float, int], other: dict[float, int]) -> Interval:
        return Interval(mean(item) - mean(other), -1.0, 1.0)

    # The package has a function of the module's name.
    monkeypatch.setattr(
        import_module("rocketchaos.spark_reports.divergence.compare"), "bounded_difference", wide
    )


@pytest.mark.usefixtures("quick")
@pytest.mark.nightly
def test_reports_on_nothing_alarm_in_one_of_twenty_cases_at_most() -> None:
    alarms = sum(any(own.verdict is Verdict.DIVERGES for own in compare(_noisy(seed))) for seed in range(200))
    # 18 is the 99 % quantile of 200 draws at 5 %.
    assert alarms <= 18


@pytest.mark.usefixtures("quick")
def test_planted_divergences_are_found() -> None:
    found = 0
    for seed in range(40):
        diverging = [own for own in compare(_noisy(seed, planted=0.8)) if own.verdict is Verdict.DIVERGES]
        found += any(own.compared.what == "lost" for own in diverging)
    # Four more messages lost in four of five runs, 20 runs a cell, among 72 comparisons: power above 95 %.
    assert found >= 38
