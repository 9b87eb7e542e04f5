"""The tables of the report."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql.types import DataType, DoubleType, LongType, StringType

from rocketchaos.harness.core.model import MessageClass, OutcomeKind
from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.divergence.as_expected import Held
from rocketchaos.spark_reports.divergence.compare import Compared, Judged, Verdict
from rocketchaos.spark_reports.divergence.read import Facts
from rocketchaos.spark_reports.divergence.words import what
from rocketchaos.spark_reports.queries import queries
from rocketchaos.spark_reports.render.anchors import anchor
from rocketchaos.spark_reports.report import Table
from rocketchaos.spark_reports.spark_schema import schema
from rocketchaos.spark_reports.statistics.interval import Interval
from rocketchaos.spark_reports.statistics.tarone import FAMILY_WISE

_TEXT, _LONG, _DOUBLE = StringType(), LongType(), DoubleType()
CELL_COLUMNS: Mapping[str, DataType] = dict.fromkeys(Cell._fields, _TEXT)
PAIR = ("scenario", "dimension", "first", "second", "alike")
"""The columns that name a pair of cells."""
METHOD = (
    "`p_corrected` is by Holm's method with Tarone's exclusion, over all comparisons of this report: "
    f"family-wise {FAMILY_WISE:.0%}, so that at most one report in twenty has a false alarm. Intervals are 95 %, "
    "each for itself. `exact in these runs`: all runs of a side are alike, but too few for a claim about all "
    "runs. `settling_runs` is how many runs of each side, all like these, are enough for such a claim; with the "
    "verdict `too few to tell` it is the minimum."
)
"""How the tables avoid false alarms, with many comparisons at once."""


def messages_table(judged: Sequence[Judged], facts: Facts) -> Table:
    """Pairs of cells that differ, class by class."""
    return Table(
        "differences",
        "Which messages differ",
        "Pairs of cells that differ in one dimension only. A client without a version has the brokers' version: "
        "so `rocketmq` changes both, and `broker` changes only the brokers, with the same clients. A mean is "
        "the number of messages of the class in a run, or their share if runs have different numbers of "
        "messages (`unit`). The difference is the first side minus the second, with an interval over runs "
        "(Gaffke's limits, melded). The interval allows for ends that no run has shown yet: after n runs, up to "
        "3.7/n of further runs may give all messages another fate. So p may show that the sides differ, while "
        "the interval leaves open by how much. `delta` is Cliff's, with Newcombe's interval; p comes from the "
        f"exact rank-sum test. {METHOD} A typical run is the newest with its cell's most frequent classes. "
        "Classes with equal means on both sides are left out.",
        schema(
            scenario=_TEXT, dimension=_TEXT, first=_TEXT, second=_TEXT, alike=_TEXT, message_class=_TEXT,
            verdict=_TEXT, unit=_TEXT, first_mean=_DOUBLE, second_mean=_DOUBLE,
            difference=_DOUBLE, difference_low=_DOUBLE, difference_high=_DOUBLE,
            delta=_DOUBLE, delta_low=_DOUBLE, delta_high=_DOUBLE, p=_DOUBLE, p_corrected=_DOUBLE,
            settling_runs=_LONG, first_runs=_LONG, second_runs=_LONG,
            first_typical_run=_TEXT, second_typical_run=_TEXT,
        ),
        [
            _message_row(item, facts)
            for item in judged
            if item.of_messages and (item.verdict is Verdict.DIVERGES or item.compared.difference.point)
        ],
        queries("divergence_classes", "divergence_outcomes"),
        "pair",
        (*PAIR, "message_class"),
        methods=("bounded-mean", "cliffs-delta", "rank-test", "tarone-holm"),
    )  # fmt: skip


def _message_row(judged: Judged, facts: Facts) -> dict[str, Any]:
    compared = judged.compared
    factor = compared.messages or 1
    return {
        **_pair_columns(judged),
        "message_class": str(compared.what),
        "unit": "messages a run" if compared.messages else "share of a run's messages",
        "first_mean": compared.sides[0] * factor,
        "second_mean": compared.sides[1] * factor,
        **interval_columns("difference", compared.difference.times(factor)),
        **interval_columns("delta", compared.delta),
        "first_typical_run": facts.fates[compared.pair.first].typical_run,
        "second_typical_run": facts.fates[compared.pair.second].typical_run,
    }


def outcomes_table(judged: Sequence[Judged], facts: Facts) -> Table:
    """Pairs of cells by how often they end `reproduced`."""
    return Table(
        "outcome_differences",
        "Which outcomes differ",
        "P(reproduced) of the runs that ended by the product's behaviour, on both sides of the same pairs, with "
        f"Newcombe's interval of the difference and Fisher's exact p. {METHOD} Runs that show neither the "
        "anomaly nor its absence (`inconclusive`, for example because a precondition did not hold) count as not "
        "reproduced. Pairs with equal shares are left out.",
        schema(
            scenario=_TEXT, dimension=_TEXT, first=_TEXT, second=_TEXT, alike=_TEXT, verdict=_TEXT,
            first_share=_DOUBLE, second_share=_DOUBLE,
            difference=_DOUBLE, difference_low=_DOUBLE, difference_high=_DOUBLE, p=_DOUBLE, p_corrected=_DOUBLE,
            settling_runs=_LONG, first_runs=_LONG, second_runs=_LONG, first_outcomes=_TEXT, second_outcomes=_TEXT,
        ),
        [
            {
                **_pair_columns(item),
                "first_share": item.compared.sides[0],
                "second_share": item.compared.sides[1],
                **interval_columns("difference", item.compared.difference),
                "first_outcomes": _outcomes(item.compared.pair.first, facts),
                "second_outcomes": _outcomes(item.compared.pair.second, facts),
            }
            for item in judged
            if not item.of_messages and item.compared.difference.point
        ],
        queries("divergence_outcomes", "divergence_classes"),
        "pair",
        PAIR,
        methods=("newcombe", "fisher", "tarone-holm"),
    )  # fmt: skip


def _pair_columns(judged: Judged) -> dict[str, Any]:
    compared = judged.compared
    pair = compared.pair
    return {
        "scenario": pair.first.scenario,
        "dimension": pair.dimension,
        "first": pair.values[0],
        "second": pair.values[1],
        "alike": pair.alike,
        "verdict": judged.verdict.value,
        "p": compared.test.p,
        "p_corrected": judged.p_corrected,
        "settling_runs": judged.settling_runs,
        "first_runs": compared.runs[0],
        "second_runs": compared.runs[1],
    }


def interval_columns(name: str, interval: Interval | None) -> dict[str, float | None]:
    """A point and its interval as columns."""
    point, low, high = interval or (None, None, None)
    return {name: point, f"{name}_low": low, f"{name}_high": high}


def _outcomes(cell: Cell, facts: Facts) -> str:
    counts = {kind.value: facts.runs(cell, kind) for kind in OutcomeKind}
    return ", ".join(f"{kind} {runs:,}" for kind, runs in counts.items() if runs)


def cells_table(facts: Facts) -> Table:
    """Every cell, with the classes of its messages."""
    return Table(
        "cells",
        "Every cell",
        "Messages of each class in the runs that show their fate. Other runs are left out and counted: those "
        "that ended in an error, or had another trouble, such as a precondition that did not hold. A message "
        "counts once for each consumer group.",
        schema(
            **CELL_COLUMNS,
            runs=_LONG, runs_left_out=_LONG, runs_without_messages=_LONG,
            **{kind.value.replace("-", "_"): _LONG for kind in MessageClass},
            typical_run=_TEXT,
        ),
        [_cell_row(cell, facts) for cell in sorted(facts.endings)],
        queries("divergence_classes", "divergence_outcomes"),
        "cell",
        Cell._fields,
    )  # fmt: skip


def _cell_row(cell: Cell, facts: Facts) -> dict[str, Any]:
    fates = facts.fates.get(cell)
    return {
        **cell._asdict(),
        "runs": facts.complete(cell),
        "runs_left_out": facts.incomplete(cell),
        "runs_without_messages": facts.complete(cell) - (fates.runs if fates else 0),
        **{kind.value.replace("-", "_"): fates.total(kind) if fates else 0 for kind in MessageClass},
        "typical_run": fates.typical_run if fates else None,
    }


def expected_table(held: Iterable[Held]) -> Table:
    """Measured against expected."""
    return Table(
        "expected",
        "Measured against expected",
        "The outcomes of runs that ended by the product's behaviour, and how many of them the scenario does not "
        "expect of this client on this version, with Wilson's 95 % interval. A run is not as expected if it has "
        "another outcome (for example because a precondition did not hold), or if a check of `also` does not "
        "hold. If the scenario expects nothing, the table shows only the outcomes. Errors and interrupted runs "
        "are left out.",
        schema(
            **CELL_COLUMNS,
            verdict=_TEXT, expected=_TEXT, runs=_LONG, not_as_expected=_LONG,
            share=_DOUBLE, share_low=_DOUBLE, share_high=_DOUBLE,
            reproduced=_LONG, not_reproduced=_LONG, inconclusive=_LONG, runs_left_out=_LONG, left_out_for=_TEXT,
            reason=_TEXT, example=_TEXT,
        ),
        [_held_row(item) for item in held],
        queries("divergence_outcomes"),
        methods=("wilson",),
    )  # fmt: skip


def _held_row(held: Held) -> dict[str, Any]:
    return {
        **held.cell._asdict(),
        "verdict": held.expectation.value,
        "expected": held.expected,
        "runs": held.runs,
        "not_as_expected": None if held.expected is None else held.missed,
        **interval_columns("share", held.share),
        "reproduced": held.outcomes[OutcomeKind.REPRODUCED],
        "not_reproduced": held.outcomes[OutcomeKind.NOT_REPRODUCED],
        "inconclusive": held.outcomes[OutcomeKind.INCONCLUSIVE],
        "runs_left_out": held.left_out.total(),
        "left_out_for": ", ".join(f"{trouble} {runs:,}" for trouble, runs in held.left_out.most_common())
        or None,
        "reason": held.reason,
        "example": held.example,
    }


def pair_anchor(judged: Judged) -> str:
    """The anchor of its row in the table of messages, or of outcomes."""
    columns = _pair_columns(judged)
    key = [columns[name] for name in PAIR]
    return anchor("pair", [*key, str(judged.compared.what)] if judged.of_messages else key)


def shown_name(compared: Compared) -> str:
    """A comparison on an axis: `java − python, 5.5.0 embedded compressed`."""
    first, second = compared.pair.values
    return f"{first} − {second}: {what(compared)} ({compared.pair.alike})"
