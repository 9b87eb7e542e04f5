"""Warm `java` workers that many runs share, where no step needs a process of a client's own.

A client in a shared JVM is still a client of its own: RocketMQ keeps one MQClientInstance per client id
(`MQClientManager`, 4.9.4 and 5.3.3), with connections, heartbeats and threads of its own, and a run's clients
have ids that no other run has. They only share the process: its clock, its garbage collector, its death.
"""

from __future__ import annotations

import math
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady, RocketchaosError
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.workers.lease import Lease
from rocketchaos.harness.workers.shared_logs import SharedLogs
from rocketchaos.harness.workers.worker import OnDeath, OnEvent, Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent

CLIENTS_AT_MOST = 32
"""Clients in one process; a client has some 30 threads and, in compressed timing, 50 pulls a second."""
LEAVING_AT_ONCE = 16
LEAVING_LIMIT_S = 0.2
"""How long a run's end waits for its clients to have left, so that their last lines are in its logs; those that
take longer leave anyway."""

SpawnShared = Callable[[str, str, str, OnEvent, OnDeath], Worker]
"""Starts a shared worker of this kind, with this version of the client, of this name, without waiting for it."""


@dataclass(eq=False, slots=True)
class Host:
    """One shared process, and its clients."""

    worker: Worker
    takes: tuple[str, str]
    """Whom it takes in: the kind of worker, and the version of its client."""
    since_s: float
    """When it was started, in seconds."""
    leases: set[Lease] = field(default_factory=set)
    readers: set[str] = field(default_factory=set)
    """The runs that will yet copy what its logs say of them."""
    condemned: str = ""
    """Why it takes no more clients; empty while it is sound."""

    @property
    def logs(self) -> Path:
        """The folder into which its clients write their logs."""
        return self.worker.log.with_suffix("")


class SharedWorkers:
    """The shared processes of one timing profile. They are started when they are first needed.

    One that misbehaved (died, did not answer, could not stop a client) takes no more clients, and is
    killed when its last client has left. The same applies to an old one, because clients leave
    things behind in it.
    """

    def __init__(
        self,
        spawn: SpawnShared,
        count: int,
        for_s: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            spawn: see there.
            count: at least this many processes of a kind and version, before any gets a second client of a run.
            for_s: how long a process takes in clients.
            clock: in seconds.
        """
        self._spawn = spawn
        self._count = count
        self._for_s = for_s
        self._clock = clock
        self._lock = threading.Lock()
        self._hosts: list[Host] = []
        self._tenancies: dict[str, Tenancy] = {}
        self._spawned = 0
        self._background = ThreadPoolExecutor(LEAVING_AT_ONCE, thread_name_prefix="leaving")
        self._closed = False

    def tenancy(self, run: str) -> Tenancy:
        """Let a run in; `run` is its token, which no other run has."""
        tenancy = Tenancy(self, run)
        with self._lock:
            self._tenancies[run] = tenancy
        return tenancy

    def run_count(self) -> int:
        """How many runs are under way, with or without clients here."""
        with self._lock:
            return len(self._tenancies)

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that take clients in."""
        with self._lock:
            return tuple(host.worker.pid for host in self._hosts if not self._is_over(host))

    def place(
        self, tenancy: Tenancy, name: str, kind: str, version: str, beside: str | None = None
    ) -> tuple[Host, Lease]:
        """A place for one client, in a process of its kind: where the fewest of its run live, then the fewest.

        Or in the process of the client `beside` of its run.

        Raises:
            EnvironmentNotReady: no process can be started, or the command is over.
        """
        with self._lock:
            if self._closed:
                raise EnvironmentNotReady("the shared workers have ended")
            sound = [
                host for host in self._hosts if host.takes == (kind, version) and not self._is_over(host)
            ]
            open_ones = [host for host in sound if len(host.leases) < CLIENTS_AT_MOST]
            if len(sound) < self._count or not open_ones:
                open_ones = [self._new_host(kind, version)]
            host = tenancy.host_of(beside) if beside is not None else None
            host = host or min(
                open_ones, key=lambda open_worker: (tenancy.clients_in(open_worker), len(open_worker.leases))
            )
            lease = Lease(self, host.worker, tenancy.run, name)
            host.leases.add(lease)
            host.readers.add(tenancy.run)
            return host, lease

    def _new_host(self, kind: str, version: str) -> Host:
        self._spawned += 1
        host: Host

        def died(_name: str, reason: str, trouble: Trouble) -> None:
            self._died(host, reason, trouble)

        worker = self._spawn(kind, version, f"shared-{self._spawned}", self._route, died)
        host = Host(worker, (kind, version), since_s=self._clock())
        self._hosts.append(host)
        return host

    def logs(self, host: Host, run: str) -> SharedLogs:
        """What a host's clients log for a run from now on."""
        return SharedLogs(host.logs, host.worker.log, run)

    def _route(self, event: WorkerEvent) -> None:
        """Hand an event to the run that its client belongs to; called by the worker's reader."""
        run, _, name = str(event.data.get("consumer", "")).partition(":")
        with self._lock:
            tenancy = self._tenancies.get(run)
        if tenancy is not None:
            tenancy.tell(name, replace(event, data={**event.data, "consumer": name}))

    def _died(self, host: Host, reason: str, trouble: Trouble) -> None:
        self.condemn(host.worker, reason)
        with self._lock:
            concerned = {lease.run: self._tenancies.get(lease.run) for lease in host.leases}
        for tenancy in concerned.values():
            if tenancy is not None:
                tenancy.host_died(host, reason, trouble)

    def condemn(self, worker: Worker, reason: str) -> None:
        """Take no more clients into that process; its present clients may stay."""
        with self._lock:
            for host in self._hosts:
                if host.worker is worker and not host.condemned:
                    host.condemned = reason

    def give_back(self, lease: Lease) -> None:
        """A client has left; the last one to leave a process that takes no more clients ends it."""
        with self._lock:
            for host in self._hosts:
                host.leases.discard(lease)
            over = [host for host in self._hosts if self._is_over(host) and not host.leases]
            self._hosts = [host for host in self._hosts if host not in over]
        for host in over:
            host.worker.release()
            self._remove_logs(host)

    def has_read(self, host: Host, run: str) -> None:
        """A run has copied what a host's logs say of it; the last one removes those of a host that is gone."""
        with self._lock:
            host.readers.discard(run)
            gone = host not in self._hosts
        if gone:
            self._remove_logs(host)

    def _remove_logs(self, host: Host) -> None:
        """Remove the logs of a host that is gone, unless somebody will yet read them."""
        with self._lock:
            if host.readers:
                return
        shutil.rmtree(host.logs, ignore_errors=True)
        host.worker.log.unlink(missing_ok=True)

    def _is_over(self, host: Host) -> bool:
        """Whether it takes no more clients."""
        old = self._clock() - host.since_s > self._for_s
        return old or bool(host.condemned) or not host.worker.alive

    def in_background(self, work: Callable[[], None]) -> Future[None] | None:
        """Have a client leave while its run goes on with its end; None: it has left."""
        with self._lock:
            if not self._closed:
                return self._background.submit(work)
        work()
        return None

    def leave(self, run: str) -> None:
        """A run is over: drop its further events."""
        with self._lock:
            self._tenancies.pop(run, None)

    def close(self) -> None:
        """End every process. Idempotent."""
        with self._lock:
            hosts, self._hosts, self._closed = self._hosts, [], True
        for host in hosts:
            host.worker.release()
            self._remove_logs(host)
        self._background.shutdown()


class Tenancy:
    """One run's clients in shared processes."""

    def __init__(self, workers: SharedWorkers, run: str) -> None:
        self.run = run
        self._workers = workers
        self._lock = threading.Lock()
        self._leases: list[tuple[Host, Lease]] = []
        self._logs: dict[Host, SharedLogs] = {}
        self._listeners: dict[str, tuple[OnEvent, OnDeath]] = {}

    def lease(
        self,
        name: str,
        kind: str,
        version: str,
        on_event: OnEvent,
        on_death: OnDeath,
        beside: str | None = None,
    ) -> Lease:
        """A place for the client `name`, in a worker of this kind that has this version of it.

        `beside` is a client of the run that already has a place; the new client shares its process.

        See `harness.workers.worker.Worker` for the callbacks.

        Raises:
            EnvironmentNotReady: no process can be started.
        """
        self._listeners[name] = on_event, on_death
        host, lease = self._workers.place(self, name, kind, version, beside)
        with self._lock:
            if host not in self._logs:
                self._logs[host] = self._workers.logs(host, self.run)
            self._leases.append((host, lease))
        return lease

    def host_of(self, name: str) -> Host | None:
        """The process of a client of this run, if it has one."""
        with self._lock:
            return next((host for host, lease in self._leases if lease.name == name and not lease.over), None)

    def clients_in(self, host: Host) -> int:
        """How many of this run's clients live there."""
        with self._lock:
            return sum(1 for where, lease in self._leases if where is host and not lease.over)

    def tell(self, name: str, event: WorkerEvent) -> None:
        """Hand an event on. A run that can't take it has a trouble of its own: the others' go on."""
        listener = self._listeners.get(name)
        if listener is None:
            return
        on_event, on_death = listener
        try:
            on_event(event)
        except RocketchaosError as error:
            on_death(name, f"its events can't be recorded: {error.message}", Trouble.ENVIRONMENT)
        except Exception as error:  # a callback's defect must not pass for a quiet client
            reason = f"its event can't be handled: {type(error).__name__}: {error}"
            on_death(name, reason, Trouble.HARNESS)

    def host_died(self, host: Host, reason: str, trouble: Trouble) -> None:
        """A shared process ended unexpectedly, and this run's clients in it with it."""
        with self._lock:
            names = [lease.name for where, lease in self._leases if where is host and not lease.over]
        for name in names:
            on_death = self._listeners[name][1]
            on_death(name, f"{reason} (process {host.worker.pid}, shared with other runs)", trouble)

    def end(self, logs: Path) -> None:
        """Every client leaves; the lines of the shared logs that name this run go to `logs`."""
        with self._lock:
            leases, collectors = [lease for _, lease in self._leases], dict(self._logs)
        for lease in leases:
            lease.release()
        wait([lease.leaving for lease in leases if lease.leaving is not None], LEAVING_LIMIT_S)
        self._workers.leave(self.run)
        for host, collector in collectors.items():
            collector.collect(logs / host.worker.name, whole=bool(host.condemned))
            self._workers.has_read(host, self.run)
