"""The tables of the report."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql.types import (
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    TimestampType,
)

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.flakiness.assess import LEVEL, Assessed
from rocketchaos.spark_reports.flakiness.cells import ALIKE_RUNS, Verdict, more_runs
from rocketchaos.spark_reports.flakiness.conditions import Condition
from rocketchaos.spark_reports.flakiness.read import Signature
from rocketchaos.spark_reports.flakiness.versions import WORDS, VersionChange
from rocketchaos.spark_reports.queries import queries
from rocketchaos.spark_reports.report import Table
from rocketchaos.spark_reports.spark_schema import schema
from rocketchaos.spark_reports.statistics.score import STEADY_RATE, chance_above

_TEXT, _LONG, _DOUBLE, _TIME, _BOOL = StringType(), LongType(), DoubleType(), TimestampType(), BooleanType()
_CELL: Mapping[str, DataType] = dict.fromkeys(Cell._fields, _TEXT)


def cells_table(cells: Sequence[Assessed]) -> Table:
    """Every cell."""
    return Table(
        "cells",
        "Every cell",
        "The worst cell comes first. The verdict counts the runs with an expectation that ended by the product's "
        "behaviour: FLAKY if some ended as expected and others did not, otherwise PASS or FAIL, with a question "
        f"mark below {ALIKE_RUNS} runs. `p_steady` is the posterior chance that more "
        f"than {STEADY_RATE:.0%} of all runs end as expected (Jeffreys' prior); intervals are Wilson's, 95 "
        "%; `now` is the verdict since the last change point; `flip_rate_by_chance` is the flip rate if "
        "the same ends came in any order; a `trend` above 5 % is `none`; `trend_p` and `change_p` are adjusted "
        "for the number of cells (Benjamini and Hochberg).",
        schema(
            **_CELL, owner=_TEXT,
            verdict=_TEXT, now=_TEXT, runs=_LONG, judged=_LONG, as_expected=_LONG,
            p_as_expected=_DOUBLE, as_expected_low=_DOUBLE, as_expected_high=_DOUBLE, p_steady=_DOUBLE,
            more_runs_needed=_LONG,
            reproduced=_LONG, not_reproduced=_LONG, inconclusive=_LONG,
            p_reproduced=_DOUBLE, reproduced_low=_DOUBLE, reproduced_high=_DOUBLE,
            environment_errors=_LONG, harness_errors=_LONG, broken_off=_LONG,
            flips=_LONG, flip_rate=_DOUBLE, flip_rate_by_chance=_DOUBLE,
            trend=_TEXT, trend_p=_DOUBLE, change_p=_DOUBLE, change_points=_LONG,
            order_uncertain=_LONG, hosts=_LONG, first_started=_TIME, last_started=_TIME,
            first_cause=_TEXT, example=_TEXT,
        ),
        [_cell_row(cell) for cell in cells],
        queries("flakiness_cells", "flakiness_history", "flakiness_causes"),
        "cell",
        Cell._fields,
        methods=("wilson", "jeffreys", "trend", "change-points", "benjamini-hochberg"),
    )  # fmt: skip


def _cell_row(cell: Assessed) -> Mapping[str, Any]:
    counts, expected, reproduced = cell.counts, cell.expected, cell.reproduced
    judged = counts.judged > 0
    cause = cell.causes[0] if cell.causes else None
    return {
        **cell.key._asdict(),
        "owner": counts.owner,
        "verdict": cell.verdict.value,
        "now": cell.now.value,
        "runs": counts.runs,
        "judged": counts.judged,
        "as_expected": counts.as_expected,
        "p_as_expected": expected[0] if expected else None,
        "as_expected_low": expected[1] if expected else None,
        "as_expected_high": expected[2] if expected else None,
        "p_steady": chance_above(STEADY_RATE, counts.as_expected, counts.judged) if judged else None,
        "more_runs_needed": None if cell.now is Verdict.MEASURED else more_runs(*cell.recent),
        "reproduced": counts.reproduced,
        "not_reproduced": counts.not_reproduced,
        "inconclusive": counts.inconclusive,
        "p_reproduced": reproduced[0] if reproduced else None,
        "reproduced_low": reproduced[1] if reproduced else None,
        "reproduced_high": reproduced[2] if reproduced else None,
        "environment_errors": counts.environment_errors,
        "harness_errors": counts.harness_errors,
        "broken_off": counts.broken_off,
        "flips": cell.flips,
        "flip_rate": cell.flip_rate,
        "flip_rate_by_chance": cell.flip_rate_by_chance,
        "trend": ("none", "rising", "falling")[cell.trend.direction if cell.trend.p <= LEVEL else 0],
        "trend_p": cell.trend.p,
        "change_p": cell.change_p,
        "change_points": len(cell.changes),
        "order_uncertain": counts.unplaced,
        "hosts": counts.hosts,
        "first_started": counts.first_started,
        "last_started": counts.last_started,
        "first_cause": cause.text if cause else None,
        "example": cause.source if cause else None,
    }


def changes_table(cells: Sequence[Assessed]) -> Table:
    """Every change point."""
    rows = []
    for cell in cells:
        for change in cell.changes:
            first, before = cell.blocks[change.at], cell.blocks[change.at - 1]
            rows.append(
                {
                    **cell.key._asdict(),
                    "since": first.first_started,
                    "last_before": before.last_started,
                    "runs_before": change.before[1],
                    "share_before": change.before[0] / change.before[1],
                    "runs_after": change.after[1],
                    "share_after": change.after[0] / change.after[1],
                    "exact_to_runs": max(first.runs, before.runs),
                    "p": change.p,
                    "first_run": first.first_run,
                    "first_run_source": first.first_source,
                    "first_bad_run_source": first.first_miss,
                }
            )
    return Table(
        "changes",
        "Change points",
        "The places where the share of runs as expected changed (measured cells: of runs that reproduced), by "
        "binary segmentation with a likelihood ratio. p is exact if a cell has at most 200 runs, otherwise it "
        "comes from a permutation of blocks. The table has only changes that remain after correction for the "
        "number of cells. `exact_to_runs` is the precision of the place, in runs.",
        schema(
            **_CELL,
            since=_TIME, last_before=_TIME, runs_before=_LONG, share_before=_DOUBLE,
            runs_after=_LONG, share_after=_DOUBLE, exact_to_runs=_LONG, p=_DOUBLE,
            first_run=_TEXT, first_run_source=_TEXT, first_bad_run_source=_TEXT,
        ),
        rows,
        queries("flakiness_history"),
        methods=("change-points", "benjamini-hochberg"),
    )  # fmt: skip


def versions_table(changes: Sequence[VersionChange]) -> Table:
    """First bad runs after changes of version."""
    return Table(
        "versions",
        "First bad run after a change of version",
        "A version that followed another one in the same experiment, and its first run that did not end as "
        "expected. p is Fisher's exact test, adjusted by Holm, that the new version ends as expected more rarely "
        "than the version before. A high p means that the version before may be as bad. `side_by_side`: the older "
        "version still ran too, as in a matrix.",
        schema(
            change=_TEXT, of=_TEXT, scenario=_TEXT, client=_TEXT, rocketmq=_TEXT, cluster=_TEXT, timing=_TEXT,
            before=_TEXT, after=_TEXT, came=_TIME, side_by_side=_BOOL,
            runs_before=_LONG, share_before=_DOUBLE, runs_after=_LONG, share_after=_DOUBLE, p=_DOUBLE,
            first_bad_run=_TEXT, first_bad_started=_TIME, first_bad_source=_TEXT,
        ),
        [
            {
                "change": item.change,
                "of": WORDS[item.after.kind],
                "scenario": item.after.scenario,
                "client": item.after.client,
                "rocketmq": item.after.rocketmq,
                "cluster": item.after.cluster,
                "timing": item.after.timing,
                "before": item.before.version,
                "after": item.after.version,
                "came": item.after.first_started,
                "side_by_side": item.side_by_side,
                "runs_before": item.before.runs,
                "share_before": item.before.hits / item.before.runs,
                "runs_after": item.after.runs,
                "share_after": item.after.hits / item.after.runs,
                "p": item.p,
                "first_bad_run": item.after.miss_run,
                "first_bad_started": item.after.miss_started,
                "first_bad_source": item.after.miss_source,
            }
            for item in changes
        ],
        queries("flakiness_versions"),
    )  # fmt: skip


def signatures_table(signatures: Sequence[Signature]) -> Table:
    """One row for each cause."""
    columns = {
        "side": _TEXT, "kind": _TEXT, "signature": _TEXT, "first_in_runs": _LONG,
        "bad_runs": _LONG, "lost_runs": _LONG, "good_runs": _LONG,
        "occurrences": _LONG, "cells": _LONG, "first_seen": _TIME, "last_seen": _TIME, "text": _TEXT,
        "run": _TEXT, "source": _TEXT,
    }  # fmt: skip
    return Table(
        "signatures",
        "Causes",
        "Findings that differ only in details of a run, such as an id, are one row. `first_in_runs` counts every "
        "run that did not end as expected, or ended in an error, once: for the finding that says most about it. "
        "`bad_runs` counts all these runs with the finding, `lost_runs` those of them that ended in an error, and "
        "`good_runs` the runs with it that ended as expected: if there are many, the finding explains little. "
        "Lines of logs and most events are recorded only in bad runs: good runs may have them too. The "
        "table has at most 200 rows, those that cost most first. The example is the newest run.",
        schema(**columns),
        [{name: getattr(signature, name) for name in columns} for signature in signatures],
        queries("flakiness_signatures"),
        "cause",
        ("signature",),
    )


def conditions_table(conditions: Sequence[Condition]) -> Table:
    """Conditions, and how they correlate with the outcome."""
    return Table(
        "conditions",
        "Conditions that correlate with the outcome",
        "AUC is the chance that the value is higher in a run that did not end as expected than in a run of the "
        "same cell that did, with Newcombe's 95 % interval; 0.5 means no correlation. `p_adjusted` is by Holm, "
        "over all rows. A condition that correlates with the outcome need not be its cause.",
        schema(
            scenario=_TEXT, condition=_TEXT, auc=_DOUBLE, auc_low=_DOUBLE, auc_high=_DOUBLE, p=_DOUBLE,
            p_adjusted=_DOUBLE, not_as_expected=_LONG, as_expected=_LONG,
            share_in_lowest_fifth=_DOUBLE, share_in_highest_fifth=_DOUBLE,
        ),
        [
            {
                "scenario": item.scenario,
                "condition": item.name,
                "auc": item.effect.auc,
                "auc_low": item.effect.low,
                "auc_high": item.effect.high,
                "p": item.effect.p,
                "p_adjusted": item.p,
                "not_as_expected": item.effect.misses,
                "as_expected": item.effect.hits,
                "share_in_lowest_fifth": _share(item, min(item.fifths)),
                "share_in_highest_fifth": _share(item, max(item.fifths)),
            }
            for item in conditions
        ],
        queries("flakiness_conditions"),
        methods=("superiority", "tarone-holm"),
    )  # fmt: skip


def _share(condition: Condition, fifth: int) -> float:
    return condition.fifths[fifth].hits / condition.fifths[fifth].runs
