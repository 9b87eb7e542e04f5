"""The tables of the report."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql.types import DataType, DoubleType, LongType, StringType, TimestampType

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.diff.compare import CauseChange, Change, News, TimingChange
from rocketchaos.spark_reports.diff.words import certainty, kind
from rocketchaos.spark_reports.queries import queries
from rocketchaos.spark_reports.report import Table
from rocketchaos.spark_reports.spark_schema import schema
from rocketchaos.spark_reports.timing.deciders import WHATS

_TEXT, _LONG, _DOUBLE, _TIME = StringType(), LongType(), DoubleType(), TimestampType()
_CELL: Mapping[str, DataType] = dict.fromkeys(Cell._fields, _TEXT)
_SHARES: Mapping[str, DataType] = {
    "before": _LONG, "before_of": _LONG, "after": _LONG, "after_of": _LONG,
    "difference": _DOUBLE, "low": _DOUBLE, "high": _DOUBLE, "p": _DOUBLE,
}  # fmt: skip
_CORRECTED = "`p` is corrected over all {} of the report (Tarone and Holm)"


def tables(news: News) -> list[Table]:
    """All tables; a table without rows has no news."""
    return [
        cells_table(news.cells),
        claims_table(news.claims),
        causes_table(news.causes),
        timing_table(news.timing),
    ]


def cells_table(changes: Sequence[Change]) -> Table:
    """Cells that changed."""
    return Table(
        "new_cells",
        "Cells that changed",
        "Runs as expected, of all judged runs. Cells that are worse come first. `sure`: more than chance. `in "
        "these runs`: true for these runs, which are too few for a claim about all runs. If a version changed, "
        "the cell is compared with the cell of the old version, and `changed` names the change. The difference "
        f"has Newcombe's 95 % interval, p is Fisher's exact test; {_CORRECTED.format('cells')}.",
        schema(change=_TEXT, certainty=_TEXT, **_CELL, changed=_TEXT, **_SHARES, source=_TEXT),
        [_row(change) for change in changes],
        queries("diff_cells"),
        "new-cell",
        Cell._fields,
        methods=("newcombe", "fisher", "tarone-holm"),
    )


def claims_table(changes: Sequence[Change]) -> Table:
    """Claims that changed."""
    return Table(
        "new_claims",
        "Claims that changed",
        "Runs in which all checks of the claim held, of all runs that have such a check. The other columns are "
        f"as for cells; {_CORRECTED.format('claims')}.",
        schema(claim=_TEXT, change=_TEXT, certainty=_TEXT, **_CELL, changed=_TEXT, **_SHARES, source=_TEXT),
        [{"claim": change.claim, **_row(change)} for change in changes],
        queries("diff_claims"),
        "new-claim",
        ("claim", *Cell._fields),
        methods=("newcombe", "fisher", "tarone-holm"),
    )


def _row(change: Change) -> Mapping[str, Any]:
    return {
        "change": kind(change),
        "certainty": certainty(change.sure),
        **change.pair.cell._asdict(),
        "changed": change.pair.change or None,
        "before": change.before.hits,
        "before_of": change.before.of,
        "after": change.after.hits,
        "after_of": change.after.of,
        "difference": change.difference.point,
        "low": change.difference.low,
        "high": change.difference.high,
        "p": change.p,
        "source": change.source,
    }


def causes_table(causes: Sequence[CauseChange]) -> Table:
    """Causes that only one side has."""
    return Table(
        "new_causes",
        "New and gone causes",
        "Findings of runs that did not end as expected, or ended in an error, which only one side has. The "
        "columns show in how many runs, of all runs of the scenarios in which the cause was seen. Lines of "
        "logs and most events are recorded only in bad runs, and compared among these. "
        f"{_CORRECTED.format('causes')}, including those that both sides have.",
        schema(
            change=_TEXT, certainty=_TEXT, side=_TEXT, kind=_TEXT, signature=_TEXT, scenario=_TEXT,
            scenarios=_LONG, **_SHARES, first_seen=_TIME, last_seen=_TIME, text=_TEXT, source=_TEXT,
        ),
        [_cause_row(item) for item in causes],
        queries("diff_causes"),
        "new-cause",
        ("signature",),
        methods=("fisher", "tarone-holm"),
    )  # fmt: skip


def _cause_row(item: CauseChange) -> Mapping[str, Any]:
    cause, difference = item.cause, item.difference
    return {
        "change": "new" if item.new else "gone",
        "certainty": certainty(item.sure),
        "side": cause.side,
        "kind": cause.kind,
        "signature": cause.signature,
        "scenario": cause.scenario if cause.scenarios == 1 else None,
        "scenarios": cause.scenarios,
        "before": cause.before.hits,
        "before_of": cause.before.of,
        "after": cause.after.hits,
        "after_of": cause.after.of,
        "difference": difference.point if difference else None,
        "low": difference.low if difference else None,
        "high": difference.high if difference else None,
        "p": item.p,
        "first_seen": cause.first_seen,
        "last_seen": cause.last_seen,
        "text": cause.text,
        "source": cause.source,
    }


def timing_table(changes: Sequence[TimingChange]) -> Table:
    """Durations that changed."""
    return Table(
        "new_timing",
        "Durations that changed",
        "The longest interval of a kind in each run, to three digits, and the median over runs. `delta` is "
        "Cliff's, with Newcombe's 95 % interval: 1 means always slower now, -1 always faster. The table has "
        "only changes that are more than chance by the rank-sum test. A busy machine is slower too: this is no "
        f"verdict on RocketMQ. {_CORRECTED.format('times')}.",
        schema(
            what=_TEXT, change=_TEXT, **_CELL, changed=_TEXT, before_median_ms=_DOUBLE, before_of=_LONG,
            after_median_ms=_DOUBLE, after_of=_LONG, delta=_DOUBLE, low=_DOUBLE, high=_DOUBLE, p=_DOUBLE,
            source=_TEXT,
        ),
        [
            {
                "what": WHATS[item.what].title,
                "change": "slower" if item.slower else "faster",
                **item.pair.cell._asdict(),
                "changed": item.pair.change or None,
                "before_median_ms": item.before.median_ms,
                "before_of": item.before.runs,
                "after_median_ms": item.after.median_ms,
                "after_of": item.after.runs,
                "delta": item.delta.point,
                "low": item.delta.low,
                "high": item.delta.high,
                "p": item.p,
                "source": item.source,
            }
            for item in changes
        ],
        queries("diff_timing"),
        "new-timing",
        ("what", *Cell._fields),
        methods=("cliffs-delta", "rank-test", "tarone-holm"),
    )  # fmt: skip
