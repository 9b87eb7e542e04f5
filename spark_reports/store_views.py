"""What the SQL of reports reads: views with the names of the store's tables, as they were at one moment.

The same text makes them here, and is shown with each report, so that anybody can make them again.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from pyspark.sql import DataFrame

from rocketchaos.spark_reports.cell import Cell
from rocketchaos.spark_reports.places import Place
from rocketchaos.spark_reports.tables import AGED, COPY, QUARANTINE, RUNS, TABLES

SIDES = "sides"
"""The view by which a report of what is new knows which runs are `before` and which `after`: `run_key`, `side`."""

EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
"""No run is older."""
# A clock that can't be right: when the run was, nobody knows. How long things took in it was measured by another.
_IS_TRUE = (
    f"started >= TIMESTAMP '{EARLIEST:%Y-%m-%d}' AND started <= coalesce(ingested, started) + INTERVAL 1 DAY"
)
# Old run folders don't tell all of a cell, and an ingest calls that so: what isn't known is one and the same.
_COLUMNS = {
    **{name: f"coalesce({name}, 'unknown') AS {name}" for name in Cell._fields},
    **{name: f"CASE WHEN {_IS_TRUE} THEN {name} END AS {name}" for name in ("started", "ended")},
}
_RUNS = "SELECT {columns}\nFROM {{runs}}".format(
    columns=",\n       ".join(_COLUMNS.get(name, name) for name in RUNS.columns)
)
_PROBLEMS = f"""\
SELECT * FROM {{quarantine}} AS q
WHERE kind NOT IN ('{COPY}', '{AGED}')
  AND NOT EXISTS (SELECT 1 FROM {{runs}} AS r WHERE r.source = q.source AND r.ingested >= q.found)
  AND NOT EXISTS (SELECT 1 FROM {{runs}} AS r WHERE r.run = q.run
                    AND (r.source <> q.source OR r.ingested >= q.found))"""

# Names of batches are their time, their ingest, and a word of their own (`spark_reports.store`).
NEWEST_INGEST = """\
SELECT run_key,
       CASE WHEN split_part(batch, '-', 2) = newest.ingest THEN 'after' ELSE 'before' END AS side
FROM runs CROSS JOIN (SELECT split_part(max(batch), '-', 2) AS ingest FROM runs) AS newest"""
"""`SIDES` by the newest ingest that brought runs: those it brought, or brought again, and all others."""


def placed_in_time(runs: DataFrame) -> DataFrame:
    """The rows of `runs`, without `started` and `ended` where the clock of the machine was wrong altogether.

    So is one by which a run began before 2020, or more than a day after it was ingested. What isn't known of its
    cell is `unknown`.
    """
    return runs.sparkSession.sql(_RUNS, runs=runs)


def problems(runs: DataFrame, quarantine: DataFrame) -> DataFrame:
    """What is a problem now, of the rows of these tables: no copies, nothing aged, and no run that counts.

    From another folder it counts whenever it was ingested, so that the order of ingests shows in no report; from
    the same folder only if since then.
    """
    return runs.sparkSession.sql(_PROBLEMS, runs=runs, quarantine=quarantine)


def statements(place: Place, versions: Mapping[str, int]) -> list[str]:
    """The SQL that makes the views of a store at these versions of its tables, in any Spark with Delta Lake."""
    tables = {name: f"delta.`{place.of_table(name)}` VERSION AS OF {versions[name]}" for name in TABLES}
    texts = {name: f"SELECT * FROM {table}" for name, table in tables.items()}
    texts |= counted_rows(tables[RUNS.name], tables[QUARANTINE.name])
    texts[SIDES] = NEWEST_INGEST
    return [view(name, text) for name, text in texts.items()]


def counted_rows(runs: str, quarantine: str) -> Mapping[str, str]:
    """The SQL of the two tables of which not all rows count as they are; their views' names by what they read."""
    return {
        RUNS.name: _RUNS.format(runs=runs),
        QUARANTINE.name: _PROBLEMS.format(quarantine=quarantine, runs=RUNS.name),
    }


def view(name: str, text: str) -> str:
    """The statement that makes a view."""
    return f"CREATE OR REPLACE TEMPORARY VIEW {name} AS\n{text};"
