"""`make matrix-table RUNS=FOLDER`: where clients and versions differ, written into its guide from real runs.

The runs are those of a folder, as `rocketchaos run … --matrix … --runs FOLDER` leaves them, where one is given;
otherwise they are made.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.folder import load_report
from tests.benchmarks.divergence_table import divergence_table
from tests.benchmarks.measuring import ROOT, rocketchaos, write_into_page

EXPERIMENTS = (
    "same-group-different-tags",
    "same-group-same-tags",
    "mixed-tags-a-quarter-arrives",
    "mixed-tags-both-take-both",
    "different-topics-whichever-client",
    "same-topics-whichever-client",
)
DIMENSIONS = ("clients=java,python,grpc", "rocketmq=4.9.3,4.9.4,4.9.7,5.3.3,5.5.0")
GUIDE = ROOT / "docs" / "guides" / "clients-and-versions.md"
BEGIN, END = "<!-- the matrix by `make matrix-table` -->", "<!-- end of the matrix -->"


def reports(runs: Path) -> Iterator[Report]:
    """Every run of a matrix below a folder, judged anew, in the order in which they were made."""
    for record in sorted(runs.rglob("run.json"), key=lambda path: path.parent.name):
        folder = record.parent
        if not folder.is_symlink():
            report = load_report(folder)
            if report.record.get("cell") and report.record.get("ended"):
                yield report


def make_runs(folder: Path, repeat: int) -> None:
    """Run the experiments of the guide, with every client on every version."""
    for name in EXPERIMENTS:
        print(f"{name}, {repeat} times a cell ...", flush=True)
        rocketchaos(
            "reproduce", name, "--repeat", str(repeat), "--matrix", *DIMENSIONS, "--json", "--runs", str(folder)
        )  # fmt: skip


def main() -> None:
    """Print the table, and write it into the guide, without `--print-only`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "runs", type=Path, nargs="?", help="the folder of the runs; unless given, they are made"
    )
    parser.add_argument(
        "--repeat", type=int, default=3, help="so many runs of each cell, where they are made"
    )
    parser.add_argument("--print-only", action="store_true", help="only print")
    chosen = parser.parse_args()
    if chosen.runs is None:
        with tempfile.TemporaryDirectory(prefix="rocketchaos-matrix-") as folder:
            make_runs(Path(folder), chosen.repeat)
            found = list(reports(Path(folder)))
    else:
        found = list(reports(chosen.runs))
    if not found:
        parser.error(f"there is no finished run with a `cell` below {chosen.runs}")
    table = divergence_table(sorted(found, key=lambda report: report.scenario.name))
    print(table)
    if not chosen.print_only:
        write_into_page(GUIDE, table, BEGIN, END)


if __name__ == "__main__":
    main()
