"""What is known of each folder, as numbers: few enough to be judged one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as fn

from rocketchaos.spark_reports.ingest.listing import Folder
from rocketchaos.spark_reports.ingest.quarantine import Document, Seen

_SUMS = (
    "event_count",
    "broken_events",
    "events_of_other_schema",
    "events_of_another_run",
    "ends",
    "message_count",
    "missing_messages",
    "surplus_messages",
    "other_keys",
    "broken_messages",
    "messages_of_other_schema",
)
_DOCUMENTS = {"run": "record", "outcome": "verdict", "checks": "checks"}
NUMBERS = (
    "source",
    "run_key",
    "run",
    "scenario",
    "counts",
    "digest",
    "stored_source",
    "stored_digest",
    "ended",
    "outcome_kind",
    "trouble",
    "in_order",
    "first_wall_ms",
    "last_event_of_checks",
    "last_event_of_messages",
    "strange_groups",
    *(f"{name}_{what}" for name in _DOCUMENTS for what in ("read", "broken", "schema")),
    *_SUMS,
)
"""Columns of `what_is_seen` by which a folder is judged."""
_NEEDED = {
    "record": ("run", "scenario"),
    "verdict": ("outcome",),
    "checks": ("checks",),
}


def what_is_seen(folders: DataFrame) -> DataFrame:
    """With the columns of `NUMBERS`, but for the digest."""
    columns: dict[str, Any] = {
        "scenario": fn.col("record.scenario"),
        "ended": fn.col("record.ended").isNotNull(),
        "outcome_kind": fn.col("verdict.outcome"),
        "trouble": fn.col("verdict.trouble"),
        "last_event_of_checks": fn.array_max(
            fn.flatten(fn.transform("checks.checks", lambda one: fn.coalesce(one["events"], fn.array())))
        ),
    }
    for name, column in _DOCUMENTS.items():
        lacking = fn.col(f"{column}.corrupt").isNotNull() | fn.col(f"{column}.schema_version").isNull()
        for field in _NEEDED[column]:
            lacking |= fn.col(f"{column}.{field}").isNull()
        columns |= {
            f"{name}_read": fn.col(f"{name}_text").isNotNull(),
            f"{name}_broken": fn.coalesce(lacking, fn.lit(True)),
            f"{name}_schema": fn.col(f"{column}.schema_version"),
        }
    return folders.withColumns(columns)


def seen_of(folder: Folder, row: Row) -> Seen:
    """One folder, of a row with `NUMBERS`."""
    own = row.asDict()
    sums: dict[str, Any] = {name: int(own[name] or 0) for name in _SUMS}
    return Seen(
        folder=folder,
        run=_document("run", own),
        outcome=_document("outcome", own),
        checks=_document("checks", own),
        ended=bool(own["ended"]),
        outcome_kind=own["outcome_kind"],
        trouble=own["trouble"],
        last_event_of_checks=own["last_event_of_checks"],
        in_order=bool(own["in_order"]),
        first_wall_ms=own["first_wall_ms"],
        last_event_of_messages=own["last_event_of_messages"],
        strange_groups=tuple(own["strange_groups"] or ()),
        **sums,
    )


def _document(name: str, own: Mapping[str, Any]) -> Document:
    return Document(own[f"{name}_read"], own[f"{name}_broken"], own[f"{name}_schema"])
