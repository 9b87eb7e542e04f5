"""`make bench`: how long things take on this machine, written into docs/benchmarks.md.

Every figure is measured in this run, several times, and given as median and range. Nothing is asserted: a
benchmark on a busy machine tells about the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.feasibility import why_not
from rocketchaos.harness.plan.options import DEFAULT_VERSION, Options
from rocketchaos.harness.plan.selection import load_all
from rocketchaos.harness.scenario import load_scenario
from tests.benchmarks.claims import measure_claims
from tests.benchmarks.commands import measure_commands
from tests.benchmarks.containers import measure_containers
from tests.benchmarks.experiment import measure_experiment
from tests.benchmarks.matrix import measure_matrix
from tests.benchmarks.measuring import BENCHMARKS, ROOT, Figure, rocketchaos, write_into_page
from tests.benchmarks.night import measure_night
from tests.benchmarks.power import measure_power
from tests.benchmarks.reproduce import SCENARIO, measure_versions
from tests.benchmarks.reproduce import rows as version_rows
from tests.benchmarks.reproduce_beside import measure_beside
from tests.benchmarks.soak import measure_soak
from tests.benchmarks.survival import measure_survival
from tests.benchmarks.symptoms import measure_forty, measure_symptoms

MARKS = {
    "reproduce": ("<!-- figures of a run by `make bench` -->", "<!-- end of figures of a run -->"),
    "commands": ("<!-- figures of commands by `make bench` -->", "<!-- end of figures of commands -->"),
    "processes": ("<!-- figures by `make bench` -->", "<!-- end of figures -->"),
    "matrix": ("<!-- figures of the matrix by `make bench` -->", "<!-- end of figures of the matrix -->"),
    "claims": ("<!-- figures of claims by `make bench` -->", "<!-- end of figures of claims -->"),
    "symptoms": ("<!-- figures of symptoms by `make bench` -->", "<!-- end of figures of symptoms -->"),
    "forty-symptoms": (
        "<!-- figures of 40 symptoms by `make bench` -->",
        "<!-- end of figures of 40 symptoms -->",
    ),
    "experiment": (
        "<!-- figures of the experiment by `make bench` -->",
        "<!-- end of figures of the experiment -->",
    ),
    "survival": ("<!-- figures of survival by `make bench` -->", "<!-- end of figures of survival -->"),
    "night": ("<!-- figures of a night by `make bench` -->", "<!-- end of figures of a night -->"),
    "power": ("<!-- figures of nights by `make bench` -->", "<!-- end of figures of nights -->"),
    "soak": ("<!-- figures of the soak by `make bench` -->", "<!-- end of figures of the soak -->"),
    "containers": ("<!-- figures of containers by `make bench` -->", "<!-- end of figures of containers -->"),
}
"""Where in docs/benchmarks.md the figures of each part stand."""
PROBES = 300
EXPERIMENT_REPEATS = 100


def told_runs(printed: str) -> list[dict[str, Any]]:
    """`run.json` of every run of a command."""
    runs = json.loads(printed)["runs"]
    return [json.loads((Path(run["run_dir"]) / "run.json").read_text()) for run in runs]


def measure_side_by_side(repeats: int, runs: str) -> list[Figure]:
    """All compressed scenarios, one after the other and side by side; and one experiment very often."""
    compressed = [
        item.file
        for item in load_all([ROOT / "scenarios"])
        if item.timing == "compressed" and why_not(item, DEFAULT_VERSION, ClusterKind.EMBEDDED) is None
    ]
    arguments = ("run", *compressed, "--json", "--runs", runs)
    serial = [rocketchaos(*arguments, "--parallel", "1")[0]]
    beside, medians, busy = [], [], []
    for _ in range(max(1, repeats // 3)):
        seconds, printed = rocketchaos(*arguments)
        records = told_runs(printed)
        beside.append(seconds)
        medians.append(statistics.median(record["seconds"] for record in records))
        shares = (record["load"]["busy_share"] for record in records)
        busy += [share for share in shares if share is not None]  # there is none of less than 0.1 s
    often = []
    for _ in range(max(1, repeats // 3)):
        repeated = ("reproduce", str(SCENARIO), "--repeat", str(EXPERIMENT_REPEATS), "--json", "--runs", runs)
        often.append(rocketchaos(*repeated)[0])
    number = len(compressed)
    return [
        Figure(f"all {number} compressed scenarios, one after the other", "s", serial, ""),
        Figure(f"all {number} compressed scenarios, side by side", "s", beside, ""),
        Figure("of it: for each scenario", "s", [seconds / number for seconds in beside], "≤ 1.5 s"),
        Figure("of it: a scenario's own time, median", "s", medians, ""),
        Figure("of it: share of busy cores while a scenario ran", "", busy, ""),
        Figure(f"{EXPERIMENT_REPEATS} repeats of the experiment, on one cluster", "s", often, "≤ 60 s"),
    ]


def measure_parts(repeats: int, runs: Path) -> list[Figure]:
    """A subscription probe, and the memory of a worker of a consumer's own, with the experiment's running."""
    scenario = load_scenario(SCENARIO)
    probes: list[float] = []
    memory: list[float] = []
    with (
        Runner(Options(runs=runs, use_running=False)) as runner,
        runner.cluster_for(runner.job(scenario)) as managed,
    ):
        for _ in range(max(1, repeats // 2)):
            run = runner.new_run(managed, runner.job(scenario), all_own=True)
            try:
                run.provision()
                for index in range(len(scenario.steps)):
                    run.step(index)
                probes += probe(run.context)
                memory += [
                    psutil.Process(consumer.pid).memory_info().rss / 2**20
                    for consumer in run.context.members.running()
                ]
            finally:
                run.finish()
    return [
        Figure("subscription probe (request code 203)", "ms", probes, "median ≤ 5 ms"),
        Figure("a worker's memory, one consumer running (RSS)", "MiB", memory, "≤ 120 MB"),
    ]


def probe(context: RunContext) -> list[float]:
    """Milliseconds of many subscription probes, one after the other."""
    group, broker = context.names.real("g"), next(iter(context.servers.broker_addresses.values()))
    took_ms = []
    for _ in range(PROBES):
        started = time.perf_counter()
        context.admin.connection(group, broker)
        took_ms.append((time.perf_counter() - started) * 1000)
    return took_ms


def table(rows: Sequence[str], version: str | None = DEFAULT_VERSION) -> str:
    """The rows in Markdown, with machine and date; without a version where each row tells of several."""
    processor = platform.processor() or platform.machine()
    head = (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores ({processor}), "
        f"{psutil.virtual_memory().total // 2**30} GiB, Python {platform.python_version()}, "
        f"{f'RocketMQ {version}, ' if version else ''}timing compressed, "
        f"load at the end {os.getloadavg()[0]:.2f}:"
    )
    return "\n".join([head, "", *rows])


def figure_rows(figures: Sequence[Figure]) -> list[str]:
    """A table's rows in Markdown; none of no figures."""
    head = ["| what | median | range | measurements | aim |", "|---|---|---|---|---|"]
    return [*head, *(figure.row() for figure in figures)] if figures else []


def measure_processes(repeats: int, runs: str) -> list[Figure]:
    """Everything on embedded clusters."""
    return [
        *measure_parts(repeats, Path(runs)),
        *measure_side_by_side(repeats, runs),
    ]


PARTS: Mapping[str, Callable[[int, str], list[Figure]]] = {
    "commands": measure_commands,
    "processes": measure_processes,
    "matrix": measure_matrix,
    "claims": measure_claims,
    "symptoms": measure_symptoms,
    "forty-symptoms": measure_forty,
    "experiment": measure_experiment,
    "survival": measure_survival,
    "power": measure_power,
    "night": measure_night,
    "soak": measure_soak,
    "containers": measure_containers,
}


def write(name: str, rows: Sequence[str], version: str | None = DEFAULT_VERSION, *, into_page: bool) -> None:
    """Print a part's table, where it measured anything, and write it into docs/benchmarks.md."""
    if rows:
        print(table(rows, version))
        if into_page:
            write_into_page(BENCHMARKS, table(rows, version), *MARKS[name])


def main() -> None:
    """Measure, print, and write into docs/benchmarks.md, without `--print-only`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--print-only", action="store_true", help="only print")
    parser.add_argument("--only", choices=("reproduce", *PARTS), help="only this part")
    parser.add_argument(
        "--beside",
        type=Path,
        help="only print the first command's times, in turn with those of another checkout",
    )
    chosen = parser.parse_args()
    if chosen.beside:
        with tempfile.TemporaryDirectory(prefix="rocketchaos-bench-") as runs:
            rows = measure_beside(chosen.beside, chosen.repeats, runs)
        print(table(rows, None))
        return
    for name, measure in PARTS.items():
        if chosen.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory(prefix="rocketchaos-bench-") as runs:
            write(name, figure_rows(measure(chosen.repeats, runs)), into_page=not chosen.print_only)
    if chosen.only in (None, "reproduce"):
        with tempfile.TemporaryDirectory(prefix="rocketchaos-bench-") as runs:
            measured = measure_versions(chosen.repeats, runs)
        write("reproduce", version_rows(measured), None, into_page=not chosen.print_only)


if __name__ == "__main__":
    main()
