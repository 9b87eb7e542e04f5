"""Options that several commands have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.plan.options import DEFAULT_VERSION


class Timing(StrEnum):
    """The timing profiles, as an option."""

    COMPRESSED = "compressed"
    FAITHFUL = "faithful"


_ROCKETMQ = "RocketMQ of servers and clients: 4.9.x, 5.x, or the folder of a build of your own"
RocketmqOption = Annotated[str, typer.Option("--rocketmq", metavar="VERSION|DIR", help=f"{_ROCKETMQ}.")]
ChosenRocketmqOption = Annotated[
    str | None,
    typer.Option(
        "--rocketmq",
        metavar="VERSION|DIR",
        help=f"{_ROCKETMQ}. Default: {DEFAULT_VERSION}.",
    ),
]
TimingOption = Annotated[
    Timing | None,
    typer.Option("--timing", help="RocketMQ's own timers, or shortened ones. Default: the scenario's."),
]
OnOption = Annotated[
    ClusterKind,
    typer.Option("--on", help="Name server and brokers as processes of this host, or in containers."),
]
DashboardOption = Annotated[
    bool,
    typer.Option("--dashboard", help="With RocketMQ's dashboard as a third witness, in a container."),
]
RunsOption = Annotated[
    Path | None,
    typer.Option(
        "--runs", metavar="FOLDER", help="Where run folders go. Default: ROCKETCHAOS_RUNS or ./runs."
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        help="A number that is recorded with the run. It has no effect on the run. Default: random.",
    ),
]
ParallelOption = Annotated[
    int | None,
    typer.Option("--parallel", min=1, help="Runs at a time. Default: by cores and load."),
]
KeepOption = Annotated[bool, typer.Option("--keep", help="Leave the cluster up; `rocketchaos down` ends it.")]
JsonOption = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")
]
JunitOption = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML to this file as well.")
]
