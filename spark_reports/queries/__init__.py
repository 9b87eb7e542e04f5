"""The SQL of the reports, one file per query: `queries/flakiness_cells.sql`.

It is run on views that have the names of the store's tables, and the same text is shown beside the figure that it
makes. Facts are always joined with `runs` through `run_key` (see `spark_reports.tables`). A first comment in each
file says what comes out. `${three_digits}` in a file stands for `THREE_DIGITS`.
"""

from __future__ import annotations

from importlib.resources import files
from string import Template

THREE_DIGITS = """CASE
            WHEN ms < 10 THEN FLOOR(ms * 100 + 0.5) / 100
            WHEN ms < 100 THEN FLOOR(ms * 10 + 0.5) / 10
            WHEN ms < 1000 THEN FLOOR(ms + 0.5)
            WHEN ms < 10000 THEN FLOOR(ms / 10 + 0.5) * 10
            WHEN ms < 100000 THEN FLOOR(ms / 100 + 0.5) * 100
            ELSE FLOOR(ms / 1000 + 0.5) * 1000
        END"""
"""The column `ms` rounded to three significant digits, hundredths at the finest."""


def query(name: str) -> str:
    """The text of one query, by the name of its file."""
    text = files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8")
    return Template(text).substitute(three_digits=THREE_DIGITS)
