"""`make matrix-table RUNS=FOLDER`: where clients and versions differ, written into the README from real runs.

The runs are those of a folder, as `rocketchaos run … --matrix … --runs FOLDER` leaves them; nothing is started.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from harness.reporters.base import Report
from harness.reporters.folder import load_report
from harness.reporters.parts.divergence import divergence_table
from tests.benchmarks.measuring import write_into_readme

BEGIN, END = "<!-- the matrix by `make matrix-table` -->", "<!-- end of the matrix -->"


def reports(runs: Path) -> Iterator[Report]:
    """Every run of a matrix below a folder, judged anew, in the order in which they were made."""
    for record in sorted(runs.rglob("run.json"), key=lambda path: path.parent.name):
        folder = record.parent
        if not folder.is_symlink():
            report = load_report(folder)
            if report.record.get("cell") and report.record.get("ended"):
                yield report


def main() -> None:
    """Print the table, and write it into the README unless told not to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, help="the folder of the runs")
    parser.add_argument("--no-readme", action="store_true", help="only print")
    chosen = parser.parse_args()
    found = sorted(reports(chosen.runs), key=lambda report: report.scenario.name)
    if not found:
        parser.error(f"there is no finished run with a `cell` below {chosen.runs}")
    table = divergence_table(found)
    print(table)
    if not chosen.no_readme:
        write_into_readme(table, BEGIN, END)


if __name__ == "__main__":
    main()
