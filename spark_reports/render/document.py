"""A report as JSON: its sentences, its store, and its tables with every row."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from rocketchaos.spark_reports.render.links import RunsUrl, run_text
from rocketchaos.spark_reports.report import Report, Table
from rocketchaos.spark_reports.run_names import with_runs

DOCUMENT_VERSION = 1
"""The version of this format."""


def document(report: Report, url: RunsUrl | None = None) -> dict[str, Any]:
    """The report as JSON values. Figures have their name and SQL; their numbers are in the tables.

    Rows with an anchor on the page have it here too, in the same order.
    """

    def line(sentence: str) -> str:
        return with_runs(sentence, lambda source: run_text(source, url))

    return {
        "schema_version": DOCUMENT_VERSION,
        "name": report.name,
        "title": report.title,
        "headline": line(report.headline),
        "lines": [line(item) for item in report.lines],
        "store": plain_value(asdict(report.store)),
        "sections": [
            {
                "title": section.title,
                "says": section.says,
                "parts": [
                    {
                        "kind": "table" if isinstance(part, Table) else "figure",
                        "name": part.name,
                        "title": part.title,
                        "says": part.says,
                        "sql": part.sql,
                        **(_rows(part) if isinstance(part, Table) else {}),
                    }
                    for part in section.parts
                ],
            }
            for section in report.sections
        ],
    }


def document_text(report: Report, url: RunsUrl | None = None) -> str:
    """The same as text."""
    return json.dumps(document(report, url), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plain_value(value: Any) -> Any:
    """A value of a row as JSON has it: times in ISO 8601 and UTC, what is no number as null."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {str(name): plain_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(item) for item in value]
    return value


def _rows(table: Table) -> dict[str, Any]:
    names = table.schema.names
    return {
        **({"anchors": [table.anchor(row) for row in table.rows]} if table.key else {}),
        "columns": {field.name: field.dataType.simpleString() for field in table.schema.fields},
        "rows": [{name: plain_value(row.get(name)) for name in names} for row in table.rows],
    }
