"""The record of a run in addition to its history: `run.json`, and the servers' logs of that time."""

import os
import platform
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil

import rocketchaos
from rocketchaos.harness.cluster.base import Cluster, Configurable
from rocketchaos.harness.core.machine_load import RunLoad
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.engine.admission import Slot
from rocketchaos.harness.engine.code_owners import code_owner_of
from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.jars import builds
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.rocketmq import versions
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.rocketmq.timers import timers_ms
from rocketchaos.harness.scenario.model import Scenario

LOG_LIMIT_BYTES = 64 * 1024 * 1024
"""The limit of a server's log that is kept, from the run's beginning."""

OUT_OF_MEMORY = (b"java.lang.OutOfMemoryError", b"io.netty.util.internal.OutOfDirectMemoryError")


class NodeLogs:
    """The part of each server's log that was written from now on, copied when the run is over.

    Other runs on the same cluster write into the same log: their lines of the same time are in the copy too.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._begin = {node.name: _size(node.log) for node in cluster.nodes}

    def out_of_memory(self) -> tuple[str, str] | None:
        """The first server that ran out of memory meanwhile, and the line that shows it; None: none did.

        A broker that can't reserve direct memory lives on, because `ExitOnOutOfMemoryError` is about the heap. A
        request that needed the memory is never answered.
        """
        for node in self._cluster.nodes:
            with suppress(OSError), node.log.open("rb") as source:
                source.seek(self._begin[node.name])
                for line in source:
                    if any(error in line for error in OUT_OF_MEMORY):
                        return node.name, line.decode("utf-8", "replace").strip()
        return None

    def collect(self, logs: Path) -> None:
        """Copy it to `<node>.log`. A log that can't be copied doesn't change the outcome."""
        for node in self._cluster.nodes:
            with (
                suppress(OSError),
                node.log.open("rb") as source,
                (logs / f"{node.name}.log").open("wb") as target,
            ):
                source.seek(self._begin[node.name])
                target.write(source.read(LOG_LIMIT_BYTES))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def describe_run(
    job: Job,
    managed: ManagedCluster,
    names: Names,
    *,
    seed: int,
    seconds: float | None,
    phases: Mapping[str, float],
    load: RunLoad,
    slot: Slot | None,
    seen: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """`run.json`: all data for running it again and for judging its timing.

    Written when the run begins, with `seconds` and `ended` null, and again when it has ended. `seen` has the
    versions of clients in users' programs, which are known once they have started: until then `unknown`.
    """
    cluster, scenario = managed.cluster, job.scenario
    clients = {
        name: (kind, seen.get(name, version))
        for name, (kind, version) in scenario.clients(managed.version).items()
    }
    known = _known(clients, seen)
    return {
        "run": names.token,
        "scenario": scenario.name,
        "title": scenario.title,
        "scenario_file": scenario.file,
        "working_folder": str(Path.cwd()),
        "owner": scenario.owner or code_owner_of(scenario.file),
        "seed": seed,
        "timing": managed.timing.name,
        "timers_ms": timers_ms(
            managed.timing,
            managed.version,
            clients.values(),
            cluster.broker_configuration if isinstance(cluster, Configurable) else {},
        ),
        "rocketmq": managed.version,
        "builds": _builds(managed.version, scenario, clients),
        "client": scenario.client_label,
        "client_version": "+".join(version for _, version in sorted(set(known.values()))) or managed.version,
        "cell": {"client": job.clients, "rocketmq": job.rocketmq},
        "clients": {name: f"{kind}@{version}" for name, (kind, version) in known.items()},
        "chosen_client": None if job.client is None else str(job.client),
        "workers": managed.workers_of(scenario),
        "cluster": {
            "kind": cluster.kind if cluster else None,
            "nodes": [
                {"name": node.name, "role": node.role, "address": node.address}
                for node in (cluster.nodes if cluster else ())
            ],
            "shared": managed.shared,
            "images": dict(cluster.images) if cluster else {},
            "start_attempts": cluster.start_attempts if cluster else None,
        },
        "attempts": 1,  # a run is never tried again in silence
        "ended": None if seconds is None else datetime.now(UTC).isoformat(timespec="milliseconds"),
        "seconds": None if seconds is None else round(seconds, 3),
        "load": load.as_json(),
        "parallel": None if slot is None else slot.as_json(),
        "phases": {name: round(value, 3) for name, value in phases.items()},
        "versions": {
            "rocketchaos": rocketchaos.__version__,
            "python": platform.python_version(),
            "java": managed.processes.java.version,
        },
        "host": describe_host(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
    }


def _known(clients: Mapping[str, tuple[str, str]], seen: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Kinds and versions by consumer, without guesses at what is in a user's program that hasn't started."""
    return {
        name: (kind, "unknown") if CLIENT_KINDS[kind].program and name not in seen else (kind, version)
        for name, (kind, version) in clients.items()
    }


def _builds(version: str, scenario: Scenario, clients: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """The builds among the versions of servers and clients, by name."""
    used = [version, *scenario.further_releases, *(own for _, own in clients.values())]
    return {name: builds.named(name).as_json() for name in dict.fromkeys(used) if versions.is_build(name)}


def describe_host() -> dict[str, Any]:
    """The machine, and how busy it is."""
    system = os.uname()
    parts = (system.sysname, system.release, system.machine, "".join(platform.libc_ver()))
    memory, disk = psutil.virtual_memory(), shutil.disk_usage(Path.cwd())
    return {
        "name": platform.node() or None,
        # `platform.platform()` starts a process to learn the processor's name.
        "system": "-".join(part for part in parts if part),
        "processors": os.cpu_count(),
        "memory_mib": memory.total // 2**20,
        "free_memory_mib": memory.available // 2**20,
        "free_disk_mib": disk.free // 2**20,
        "load": [round(value, 2) for value in os.getloadavg()],
    }
