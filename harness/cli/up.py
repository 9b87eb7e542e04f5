"""`rocketchaos up`: a cluster for many commands."""

from typing import Annotated

import typer

from rocketchaos.harness.cli.common_options import (
    DashboardOption,
    JsonOption,
    OnOption,
    RocketmqOption,
    Timing,
)
from rocketchaos.harness.cli.terminal import ERR, OUT, Progress
from rocketchaos.harness.cluster.base import lacking
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind, cluster_class
from rocketchaos.harness.cluster.running import RunningCluster, keep, running
from rocketchaos.harness.cluster.server_cluster import ServerCluster
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.engine.cluster_choice import Making, require_lasting
from rocketchaos.harness.engine.managed_cluster import ManagedCluster, use_spares
from rocketchaos.harness.jars.builds import version_of
from rocketchaos.harness.language.cluster_needs import DASHBOARD_DEFAULT, ClusterNeeds
from rocketchaos.harness.plan.feasibility import require_can_have
from rocketchaos.harness.plan.options import DEFAULT_VERSION
from rocketchaos.harness.rocketmq.timing_profiles import PROFILES
from rocketchaos.harness.workers.processes import Processes


def up(
    rocketmq: RocketmqOption = DEFAULT_VERSION,
    on: OnOption = ClusterKind.EMBEDDED,
    dashboard: DashboardOption = False,
    timing: Annotated[Timing, typer.Option("--timing", help="Timers of its brokers.")] = Timing.COMPRESSED,
    nameserver_port: Annotated[
        int | None,
        typer.Option(
            "--nameserver-port",
            min=1024,
            max=65535,
            help="The name server's port. Not with `--on containers`. Default: a free one.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Start a RocketMQ that stays up; `reproduce` and `run` use it if version and timing match."""
    rocketmq = version_of(rocketmq)
    require_can_have(rocketmq, on)
    needs = ClusterNeeds(dashboard=DASHBOARD_DEFAULT if dashboard else None)
    if missing := lacking(cluster_class(on), {"dashboard"} if dashboard else ()):
        raise UsageProblem(f"a cluster of kind {on} has no {missing[0]}", "`--on containers` has.")
    if on is ClusterKind.CONTAINERS and nameserver_port is not None:
        raise UsageProblem(
            "in a container the name server's port is 9876, at an address of its own",
            "Leave out `--nameserver-port`.",
        )
    for record in running():
        has_all = record.dashboard is not None or not dashboard
        if record.fits(rocketmq, timing.value, on) and has_all and nameserver_port is None:
            ERR.print("It is up already.")
            _tell(record, as_json)
            return ExitCode.AS_EXPECTED
    require_lasting(on)
    with (
        Progress() as progress,
        Processes(PROFILES[timing.value], progress) as processes,
        ManagedCluster(
            processes,
            rocketmq,
            Making(on, rocketmq, needs, processes, nameserver_port=nameserver_port, shared=True),
        ) as managed,
    ):
        processes.fetch(rocketmq)
        if on is ClusterKind.EMBEDDED:
            # Only once it is known that something is to be started.
            from rocketchaos.harness.engine.archive_run import make_archives

            make_archives(processes, rocketmq)
        cluster, _ = managed.ready()
        assert isinstance(cluster, ServerCluster)
        managed.leave_tools()
        record = keep(cluster)
        managed.hand_over()
        use_spares(record, processes)
    _tell(record, as_json)
    return ExitCode.AS_EXPECTED


def _tell(record: RunningCluster, as_json: bool) -> None:
    if as_json:
        document = {
            "schema_version": SCHEMA_VERSION,
            "id": record.id,
            "rocketmq": record.version,
            "timing": record.timing,
            "on": record.kind,
            "nameserver": record.nameserver,
            "brokers": {node.name: node.address for node in record.brokers},
            "others": {node.name: node.address for node in record.nodes[1:] if node not in record.brokers},
            "dashboard": record.dashboard,
            "folder": record.folder,
        }
        OUT.print_json(document)
        return
    others = ", ".join(f"{node.name} {node.address}" for node in record.nodes[1:] if node.role != "dashboard")
    page = f"\nThe dashboard: {record.dashboard}" if record.dashboard else ""
    OUT.print(
        f"RocketMQ {record.version} ({record.timing}) is up: name server {record.nameserver}, {others}{page}\n"
        f"`rocketchaos down {record.id}` ends it."
    )
