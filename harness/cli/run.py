"""`rocketchaos run`: many scenarios."""

import shlex
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.cli.common import chosen_version, run_and_tell, say_hints, say_left_out
from rocketchaos.harness.cli.common_options import (
    ChosenRocketmqOption,
    DashboardOption,
    JsonOption,
    JunitOption,
    OnOption,
    ParallelOption,
    RunsOption,
    SeedOption,
    TimingOption,
)
from rocketchaos.harness.cli.ending import Terminated
from rocketchaos.harness.cli.matrix_option import MatrixOption, matrix_of
from rocketchaos.harness.cli.output_files import runs_or_default
from rocketchaos.harness.cli.terminal import ERR, Progress
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.engine.hold import Held
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.matrix import Matrix, plan
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.plan.selection import load_all, select


def hold_for_user(held: Held) -> None:
    """Say where to look; returns upon Enter or Ctrl-C.

    Raises:
        Terminated: SIGTERM, which ends the run.
    """
    groups = ", ".join(f"{name} is {real}" for name, real in held.groups.items())
    ERR.print(f"Held open: name server {held.nameserver}; groups: {groups}.")
    group, proxy = next(iter(held.groups.values()), "G"), f" --proxy {held.proxy}" if held.proxy else ""
    key = f" --access-key-file {shlex.quote(held.access_key_file)}" if held.access_key_file else ""
    ERR.print(
        f"`rocketchaos diagnose --namesrv {shlex.quote(held.nameserver)} --group {group}{proxy}{key}` "
        "looks at it. Enter or Ctrl-C ends the hold."
    )
    try:
        if not sys.stdin.readline():  # no Enter can come
            threading.Event().wait()
    except KeyboardInterrupt as end:
        if isinstance(end, Terminated):
            raise


def run(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Scenario files, or folders of `*.scenario.yaml`.")
    ],
    keywords: Annotated[
        str,
        typer.Option(
            "-k", metavar="EXPR", help="Only scenarios whose name or title matches: `tags and not kill`."
        ),
    ] = "",
    marks: Annotated[
        str, typer.Option("-m", metavar="MARK", help="Only scenarios whose marks match: `not slow`.")
    ] = "",
    repeat: Annotated[
        int, typer.Option("--repeat", min=1, help="Run all of them this many times, round after round.")
    ] = 1,
    parallel: ParallelOption = None,
    rocketmq: ChosenRocketmqOption = None,
    matrix: MatrixOption = None,
    on: OnOption = ClusterKind.EMBEDDED,
    dashboard: DashboardOption = False,
    timing: TimingOption = None,
    seed: SeedOption = None,
    runs: RunsOption = None,
    as_json: JsonOption = False,
    junit: JunitOption = None,
    hold: Annotated[
        bool,
        typer.Option(
            "--hold", help="Keep the run open after its last step, until Enter or Ctrl-C; for a single run."
        ),
    ] = False,
) -> ExitCode:
    """Run scenarios. Every file is validated before anything starts.

    It skips scenarios for other versions of RocketMQ, or for another kind of cluster or client, and names them.
    """
    wanted, version = matrix_of(matrix, rocketmq), chosen_version(rocketmq)
    scenarios = select(load_all(paths), keywords, marks)
    planned = plan(scenarios, (wanted or Matrix()).cells(version), on)
    if hold and len(planned.jobs) * repeat != 1:
        raise UsageProblem(
            f"`--hold` is for a single run, and these are {len(planned.jobs) * repeat}",
            "Give one scenario's file, and neither `--repeat` nor `--matrix`.",
        )
    say_hints(scenarios)
    say_left_out(planned, wanted)
    with Progress() as progress:
        options = Options(
            version=version,
            on=on,
            dashboard=dashboard,
            timing=None if timing is None else timing.value,
            runs=runs_or_default(runs),
            seed=seed,
            progress=progress,
            hold=hold_for_user if hold else None,
        )
        return run_and_tell(
            Runner(options),
            # Not one after the other: what the machine does meanwhile strikes all alike.
            planned.jobs * repeat,
            parallel=parallel,
            progress=progress,
            as_json=as_json,
            junit=junit,
            left_out=planned.left_out,
            matrix=wanted is not None,
        )
