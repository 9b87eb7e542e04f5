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
from rocketchaos.harness.workers.spares import Spares
from rocketchaos.harness.workers.worker import OnDeath, OnEvent, Worker
from rocketchaos.harness.workers.worker_kinds import KINDS

Progress = Callable[[str], None]
SHARED_KIND = "shared-java"
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
            self._spawn_shared, max(SHARED_AT_LEAST, min(SHARED_AT_MOST, usable_cores())), shared_for_s
        )
        """Client processes for runs in which no step needs a process of its own."""
        self._spares: dict[str, Spares] = {}
        self.unfinished: set[str] = set()
        """The runs, by token, of which processes may be left."""

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
        if hosts_file is not None:
            jvm_options = [f"-Djdk.net.hosts.file={hosts_file}", *jvm_options]
        plan = self._plan(kind, version, name, log_folder, jvm_options)
        program = (home or OnHost(self.reaper.owner, self.java)).launch(plan)
        return Worker(plan.kind, name, program, plan.log, on_event, on_death)

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
        plan = self._plan("admin", version, "tools", logs)
        plan = replace(plan, kind=replace(plan.kind, module=_TOOLS_SERVER))
        OnHost(owner, self.java).leave(plan, "--socket", str(socket), "--nameserver", nameserver)

    def _plan(
        self, kind: str, version: str, name: str, logs: Path, jvm_options: Sequence[str] = ()
    ) -> WorkerPlan:
        """A worker of this kind; raises as `spawn`."""
        worker_kind = KINDS[kind]
        role = worker_kind.classpath_role
        properties = [f"-D{key}={value}" for key, value in self.timing.client_system_properties.items()]
        return WorkerPlan(
            worker_kind,
            name,
            logs / name,
            logs / f"{name}.log",
            () if role is None else tuple(classpath(version, role, self.progress)),
            (*properties, *jvm_options),
            worker_kind.packages_folder(self.progress),
            worker_kind.library(self.progress),
            worker_kind.program(version, self.progress),
        )

    def use_spares(self, version: str, owner: str, sockets: Path, logs: Path) -> None:
        """Have the shared workers of this version from the spares of a cluster that stays up, and replace those
        when this object is closed.

        Args:
            version: of RocketMQ, and of the spares' client.
            owner: the cluster's.
            sockets: the folder of the spares' sockets.
            logs: the folder of their logs.
        """

        def plan(name: str) -> WorkerPlan:
            return self._plan(SHARED_KIND, version, name, logs)

        self._spares[version] = Spares(sockets, owner, self.java, plan)

    def scratch(self, owner: str) -> Path:
        """The owner's folder; the reaper removes it, should the harness die."""
        return self.reaper.scratch(owner)

    @property
    def _shared_logs(self) -> Path:
        return paths.scratch_folder(self.reaper.owner) / "shared"

    def _spawn_shared(
        self, kind: str, version: str, name: str, on_event: OnEvent, on_death: OnDeath
    ) -> Worker:
        spares = self._spares.get(version) if kind == SHARED_KIND else None
        spare = None if spares is None else spares.take()
        if spare is not None:
            self.reaper.own(spare.program.pid)
            return Worker(KINDS[kind], name, spare.program, spare.log, on_event, on_death)
        self.scratch(self.reaper.owner)
        return self.spawn(kind, version, name, self._shared_logs, on_event, on_death)

    def close(self) -> None:
        """End every shared process, and the reaper. The clusters are closed before. Idempotent.

        A run that couldn't end its processes itself, as after a second Ctrl-C, leaves that to the reaper.
        """
        self.workers.close()
        for spares in self._spares.values():
            with suppress(EnvironmentNotReady):  # the next command starts its own workers
                spares.leave(SHARED_AT_LEAST)
        self._spares.clear()
        with suppress(EnvironmentNotReady):  # a reaper that could not start, or has ended already
            self.reaper.remove_scratch(self.reaper.owner)
        if self.unfinished:
            self.reaper.end_all()
        else:
            self.reaper.release()
