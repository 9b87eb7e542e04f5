"""The SQL of the reports, one file per query: `queries/flakiness_cells.sql`.

It is run as it stands, on views that have the names of the store's tables, and the same text is shown beside the
figure that it makes. Facts are always joined with `runs` through `run_key` (see `spark_reports.tables`). A first
comment in each file says what comes out.
"""

from __future__ import annotations

from importlib.resources import files


def query(name: str) -> str:
    """The text of one query, by the name of its file."""
    return files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8")
