"""`rocketchaos up`: a cluster for many commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.campaign import DEFAULT_VERSION
from harness.cluster.base import Cluster
from harness.cluster.embedded import EmbeddedCluster
from harness.cluster.running import RunningCluster, keep, running
from harness.commands.common import ERR, OUT, JsonOption, Progress, RocketmqOption, Timing
from harness.errors import ExitCode
from harness.model import SCHEMA_VERSION
from harness.processes import Processes
from harness.session import Session
from harness.timing import PROFILES


def up(
    rocketmq: RocketmqOption = DEFAULT_VERSION,
    timing: Annotated[Timing, typer.Option("--timing", help="Timers of its brokers.")] = Timing.COMPRESSED,
    nameserver_port: Annotated[
        int | None,
        typer.Option(
            "--nameserver-port", min=1024, max=65535, help="The name server's port; a free one unless given."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Start a RocketMQ that stays up, and that `reproduce` and `run` use where version and timing fit."""
    for record in running():
        fits = (record.version, record.timing) == (rocketmq, timing.value) and record.usual
        if fits and nameserver_port is None:
            ERR.print("It is up already.", markup=False)
            _tell(record, as_json)
            return ExitCode.AS_EXPECTED
    with Progress() as progress:

        def make_cluster(folder: Path, owner: str) -> Cluster:
            return EmbeddedCluster(
                rocketmq,
                PROFILES[timing.value],
                folder,
                owner=owner,
                nameserver_port=nameserver_port,
                progress=progress,
            )

        with (
            Processes(rocketmq, PROFILES[timing.value], progress) as processes,
            Session(processes, make_cluster) as session,
        ):
            cluster, _ = session.ready()
            assert isinstance(cluster, EmbeddedCluster)
            record = keep(cluster)
            session.hand_over()
    _tell(record, as_json)
    return ExitCode.AS_EXPECTED


def _tell(record: RunningCluster, as_json: bool) -> None:
    if as_json:
        document = {
            "schema_version": SCHEMA_VERSION,
            "id": record.id,
            "rocketmq": record.version,
            "timing": record.timing,
            "nameserver": record.nameserver,
            "brokers": {node.name: node.address for node in record.nodes[1:]},
            "folder": record.folder,
        }
        json.dump(document, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    brokers = ", ".join(f"{node.name} {node.address}" for node in record.nodes[1:])
    OUT.print(
        f"RocketMQ {record.version} ({record.timing}) is up: name server {record.nameserver}, {brokers}\n"
        f"`rocketchaos down {record.id}` ends it.",
        markup=False,
    )
