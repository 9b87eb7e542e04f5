"""`rocketchaos run`: many scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.campaign import DEFAULT_VERSION, Campaign, Options
from harness.cluster.kinds import ClusterKind
from harness.commands.common import (
    ERR,
    DashboardOption,
    JsonOption,
    JunitOption,
    OnOption,
    ParallelOption,
    Progress,
    RocketmqOption,
    RunsOption,
    SeedOption,
    TimingOption,
    run_and_tell,
    runs_or_default,
)
from harness.errors import ExitCode
from harness.selection import feasible, load_all, select


def run(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Scenario files, or folders of `*.scenario.yaml`.")
    ],
    keywords: Annotated[
        str,
        typer.Option(
            "-k", metavar="EXPR", help="Only scenarios whose name or title fits: `tags and not kill`."
        ),
    ] = "",
    marks: Annotated[
        str, typer.Option("-m", metavar="MARK", help="Only scenarios whose marks fit: `not slow`.")
    ] = "",
    parallel: ParallelOption = None,
    rocketmq: RocketmqOption = DEFAULT_VERSION,
    on: OnOption = ClusterKind.EMBEDDED,
    dashboard: DashboardOption = False,
    timing: TimingOption = None,
    seed: SeedOption = None,
    runs: RunsOption = None,
    as_json: JsonOption = False,
    junit: JunitOption = None,
) -> ExitCode:
    """Run scenarios. Every file is validated before anything starts.

    Scenarios that are about other versions of RocketMQ, or need another kind of cluster, are left out, and named.
    """
    scenarios, left_out = feasible(select(load_all(paths), keywords, marks), rocketmq, on)
    for reason in left_out:
        ERR.print(f"left out: {reason}", markup=False)
    with Progress() as progress:
        options = Options(
            version=rocketmq,
            on=on,
            dashboard=dashboard,
            timing=None if timing is None else timing.value,
            runs=runs_or_default(runs),
            seed=seed,
            progress=progress,
        )
        campaign = Campaign(options)
        return run_and_tell(
            campaign,
            [campaign.job(scenario) for scenario in scenarios],
            parallel=parallel,
            progress=progress,
            as_json=as_json,
            junit=junit,
            left_out=left_out,
        )
