"""`make bench-spark`: ingest and reports at scale, on two cores and 4 GiB of driver memory, into their page.

    make bench-spark BENCH="--ingest 1e6 1e7 --reports 1e6 1e7 1e8"

Data is made from real runs (`--real FOLDER …`, otherwise the committed ones), and its truth is known. Everything
is measured in this run: ingest beside a bare conversion of the same files by the same Spark, the reports' queries
beside DuckDB on the same Parquet files. What must not be (rows through Python, facts that are collected, a skewed
stage, other rows than DuckDB's) ends it.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks.measuring import BENCHMARKS, write_into_page
from tests.benchmarks.spark.fit import GOLDEN
from tests.benchmarks.spark.table import Measured, tables

BEGIN, END = "<!-- figures of {} by `make bench-spark` -->", "<!-- end of figures of {} -->"
"""Around each table, which stays as it is where that part isn't measured."""
CORES, MEMORY_GIB = 2, 4


def main() -> None:
    """Measure, print, and write into docs/benchmarks.md, without `--print-only`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ingest", type=_number, nargs="*", default=[10**6], help="message facts")
    parser.add_argument("--reports", type=_number, nargs="*", default=[10**6, 10**7], help="message facts")
    parser.add_argument("--repeats", type=int, default=3, help="so often each, the largest size once")
    parser.add_argument("--real", type=Path, nargs="*", default=[GOLDEN], help="folders with real runs")
    parser.add_argument("--disk", type=Path, default=Path(tempfile.gettempdir()), help="where the data goes")
    parser.add_argument("--json", type=Path, help="write everything to this file as well")
    parser.add_argument("--print-only", action="store_true", help="only print")
    chosen = parser.parse_args()
    measured = measure(chosen.ingest, chosen.reports, chosen.real, chosen.repeats, chosen.disk)
    if chosen.json:
        chosen.json.write_text(json.dumps(asdict(measured), indent=1) + "\n", encoding="utf-8")
    for name, text in tables(measured, CORES, MEMORY_GIB).items():
        print(text)
        if not chosen.print_only:
            write_into_page(BENCHMARKS, text, BEGIN.format(name), END.format(name))
    complaints = measured.complaints()
    if complaints:
        raise SystemExit("\n".join(complaints))


def measure(
    ingest: Sequence[int], reports: Sequence[int], real: Sequence[Path], repeats: int, disk: Path
) -> Measured:
    """Everything, each part with a Spark of its own, as it starts from a user's command."""
    os.environ["ROCKETCHAOS_SPARK_MEMORY"] = f"{MEMORY_GIB}g"
    from rocketchaos.spark_reports.spark_session import spark_session
    from tests.benchmarks.spark.ingesting import measure_ingest
    from tests.benchmarks.spark.reporting import ask_once, measure_reports
    from tests.benchmarks.spark.watching import peak_memory

    measured = Measured(load_start=os.getloadavg()[0])
    if ingest:
        with spark_session(f"local[{CORES}]", _say) as spark:
            measured.ingest = measure_ingest(spark, ingest, real, repeats, _say, disk)
            measured.ingest_memory = peak_memory(spark)
    if reports:
        with spark_session(f"local[{CORES}]", _say) as spark:
            ask_once(spark, real, _say, disk)
            for facts in sorted(reports):
                often = 1 if facts >= 10**8 else repeats
                measured.reports.append(measure_reports(spark, facts, real, often, _say, disk, MEMORY_GIB))
                measured.reports_memory = peak_memory(spark)
    measured.load_end = os.getloadavg()[0]
    return measured


def _number(text: str) -> int:
    return int(float(text))


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


if __name__ == "__main__":
    main()
