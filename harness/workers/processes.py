"""What every cluster of one timing profile shares: Java, the reaper, and warm client processes."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.closing import Closing
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.machine_load import usable_cores
from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.harness.jars.releases import Need, fetch, require
from rocketchaos.harness.reaper.reaper import Reaper
from rocketchaos.harness.rocketmq.timing_profiles import TimingProfile
from rocketchaos.harness.workers.on_host import OnHost
from rocketchaos.harness.workers.program import WorkerHome, WorkerPlan
from rocketchaos.harness.workers.shared_workers import SharedWorkers
from rocketchaos.harness.workers.worker import OnDeath, OnEvent, Worker
from rocketchaos.harness.workers.worker_kinds import KINDS

Progress = Callable[[str], None]
_TOOLS_SERVER = "rocketchaos.harness.workers.child.tools_server"
SHARED_AT_LEAST = 2
"""Shared client processes, so that two members of a group live in different ones; one for each core, up to:"""
SHARED_AT_MOST = 8


class Processes(Closing):
    """Starts worker processes, and holds those that clients of many runs share, on whichever cluster they are.

    A client talks to the name server that it is given, and clients of different clusters have nothing in common
    but their process (`MQClientManager` keeps an instance per client id; 4.9.4 and 5.3.3).
    """

    def __init__(self, timing: TimingProfile, progress: Progress, *, shared_for_s: float = math.inf) -> None:
        """
        Args:
            timing: the profile of all clients.
            progress: called with a few words before anything that takes time.
            shared_for_s: how long a shared process takes in clients; then there is another.

        Raises:
            EnvironmentNotReady: there is no Java, or the reaper can't be started.
        """
        self.timing = timing
        self.progress = progress
        self.java = find_java()
        self.reaper = Reaper.start()
        self.workers = SharedWorkers(
            self._spawn_shared,
            lambda name: self._shared_logs / name,
            max(SHARED_AT_LEAST, min(SHARED_AT_MOST, usable_cores())),
            shared_for_s,
        )
        """Client processes for runs in which no step needs a process of its own."""

    def fetch(self, version: str) -> None:
        """Have the jars of everything that a version of RocketMQ takes: servers, tools, client.

        Raises:
            UsageProblem: there is no such version. EnvironmentNotReady: they aren't available.
        """
        need = Need(version)
        require(need, self.progress)
        for error in fetch([need], self.progress).values():
            raise error

    def spawn(
        self,
        kind: str,
        version: str,
        name: str,
        log_folder: Path,
        on_event: OnEvent,
        on_death: OnDeath,
        *,
        home: WorkerHome | None = None,
        hosts_file: Path | None = None,
        jvm_options: Sequence[str] = (),
    ) -> Worker:
        """Start a worker process of a kind, without waiting for it.

        Args:
            kind: of `harness.workers.worker_kinds.KINDS`.
            version: of its client; for those with jars one of RocketMQ's.
            name: see `Worker.spawn`.
            log_folder: see `Worker.spawn`.
            on_event: see `Worker`.
            on_death: see `Worker`.
            home: where it lives; None: on this host.
            hosts_file: names that its JVM resolves, and no others; None: as everybody here.
            jvm_options: further ones, which win over all others.

        Raises:
            UsageProblem: there is no such version. EnvironmentNotReady: the process can't be started, or its
            client isn't available.
        """
        worker_kind = KINDS[kind]
        role = worker_kind.classpath_role
        properties = dict(self.timing.client_system_properties)
        if hosts_file is not None:
            properties["jdk.net.hosts.file"] = str(hosts_file)
        return Worker.spawn(
            worker_kind,
            name,
            home=home or OnHost(self.reaper.owner, self.java),
            classpath=() if role is None else classpath(version, role, self.progress),
            jvm_options=[*(f"-D{key}={value}" for key, value in properties.items()), *jvm_options],
            packages=worker_kind.packages_folder(self.progress),
            library=worker_kind.library(self.progress),
            program=worker_kind.program(version, self.progress),
            log_folder=log_folder,
            on_event=on_event,
            on_death=on_death,
        )

    def leave_tools(self, version: str, nameserver: str, owner: str, socket: Path, logs: Path) -> None:
        """Start the tools of a cluster that stays up; see `harness.clients.resident_tools`.

        Args:
            version: of RocketMQ.
            nameserver: of the cluster.
            owner: the cluster's: who ends what carries it ends the tools.
            socket: where they are to be asked.
            logs: the folder of their logs.

        Raises:
            EnvironmentNotReady: they can't be started.
        """
        kind = replace(KINDS["admin"], module=_TOOLS_SERVER)
        plan = WorkerPlan(
            kind,
            "tools",
            logs / "tools",
            logs / "tools.log",
            tuple(classpath(version, "tools", self.progress)),
            tuple(f"-D{key}={value}" for key, value in self.timing.client_system_properties.items()),
        )
        OnHost(owner, self.java).leave(plan, "--socket", str(socket), "--nameserver", nameserver)

    def scratch(self, owner: str) -> Path:
        """The owner's folder; the reaper removes it, should the harness die."""
        return self.reaper.scratch(owner)

    @property
    def _shared_logs(self) -> Path:
        return paths.scratch_folder(self.reaper.owner) / "shared"

    def _spawn_shared(
        self, kind: str, version: str, name: str, on_event: OnEvent, on_death: OnDeath
    ) -> Worker:
        self.scratch(self.reaper.owner)
        return self.spawn(kind, version, name, self._shared_logs, on_event, on_death)

    def close(self) -> None:
        """End every shared process, and the reaper. The clusters are closed before. Idempotent."""
        self.workers.close()
        with suppress(EnvironmentNotReady):  # a reaper that could not start, or has ended already
            self.reaper.remove_scratch(self.reaper.owner)
        self.reaper.release()
