"""Many runs in one command: the cluster of each, and the kept part of each."""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from rocketchaos.harness.cluster.base import Cluster
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.cluster.running import AttachedCluster, RunningCluster, keep, running
from rocketchaos.harness.cluster.server_cluster import ServerCluster
from rocketchaos.harness.core.closing import Closing
from rocketchaos.harness.core.errors import EnvironmentNotReady, RocketchaosError, UsageProblem
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.engine.admission import Admission, Slot, weight_of
from rocketchaos.harness.engine.cluster_choice import Making, require_lasting
from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.engine.run import Run
from rocketchaos.harness.jars.releases import Need, absences, fetch
from rocketchaos.harness.language.cluster_needs import DASHBOARD_DEFAULT, USUAL, ClusterNeeds
from rocketchaos.harness.plan.feasibility import why_not
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.plan.obtainable import needs_of
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED, PROFILES
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.delay import delayed_brokers
from rocketchaos.harness.workers.processes import Processes

SHARED_CLUSTERS_AT_MOST = 6
"""A cluster of one broker takes some 700 MiB. While idle it takes hardly any processor time in 4.9.x, and a fifth
of a core in 5.x with compressed timers."""
Kind = tuple[str, str, str]
"""Version of RocketMQ, timing profile and shape of a cluster: runs with the same key can share one."""


def order_of(kinds: Sequence[Kind | None], faithful: Sequence[bool]) -> list[int]:
    """The indices of runs, in the order in which they begin. Those with RocketMQ's own timers are first: they
    mostly wait. Those on a cluster of a rarer kind follow the first of them, so that the cluster ends early.

    Args:
        kinds: of the cluster that each one shares; None: it has its own.
        faithful: whether it has RocketMQ's own timers.
    """
    counted = Counter(kind for kind in kinds if kind is not None)
    usual = max(counted, key=lambda kind: counted[kind], default=None)
    firsts = {kind: index for index, kind in reversed(list(enumerate(kinds)))}

    def place(index: int) -> tuple[bool, int]:
        kind = kinds[index]
        return not faithful[index], index if kind in (None, usual) else firsts[kind]

    return sorted(range(len(kinds)), key=place)


class Runner(Closing):
    """Runs scenarios, each on a cluster that fits; equal needs share one. Use `with Runner(options) as runner:`.
    At the end it has stopped everything that it started, except kept clusters.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.interrupted = threading.Event()
        """Set to end all runs, as Ctrl-C does."""
        self.reports: list[Report] = []
        """The reports of all ended runs, interrupted ones too, in the order of their ends."""
        self.kept: list[RunningCluster] = []
        """The clusters that stay up, after `close`."""
        self._shared_clusters: dict[Kind, ManagedCluster] = {}
        """The shared ones, in the order of their last use."""
        self._retired: set[ManagedCluster] = set()
        """Clusters that take no new run, but still have some."""
        self._users: Counter[ManagedCluster] = Counter()
        self._processes: dict[str, Processes] = {}
        """By timing profile."""
        self._awaited: Counter[Kind] = Counter()
        """The number of runs still to come, as far as they are known."""
        self._proxied: set[str] = set()
        """The versions of which some runs need a proxy."""
        self._processes_lock = threading.Lock()
        self._lock = threading.Lock()

    def job(self, scenario: Scenario) -> Job:
        """The scenario as it is, on the version of the options."""
        return Job(scenario, self.options.version)

    def require_ready(self) -> None:
        """Make sure that runs of the chosen version, on the chosen kind of cluster, can begin at all.

        Raises:
            UsageProblem: there is no such version. EnvironmentNotReady: its jars aren't available, or no
            container engine answers.
        """
        processes = self._processes_of(self.options.timing or COMPRESSED.name)
        processes.fetch(self.options.version)
        self._make_archives(processes, self.options.version)
        if self.options.on is ClusterKind.CONTAINERS:
            # What speaks to a container engine takes a while to load.
            from rocketchaos.harness.containers.container_engine import connect

            connect()

    def run(self, job: Job, slot: Slot | None = None) -> Report:
        """Run one scenario once, into a folder of its own; `slot`: how it was admitted with others under way.

        Raises:
            UsageProblem: there is no such version.
            EnvironmentNotReady: no run can even begin: there is no Java, no jars, no place for a run folder.
            KeyboardInterrupt: the user wants it to end; the run so far is judged and in its folder.
        """
        with self.cluster_for(job) as managed:
            self.options.progress(f"running {job.scenario.name}")
            managed.begin()
            # Its import takes as long as some steps; meanwhile the first processes start.
            import rocketchaos.harness.reporting.folder  # noqa: F401

            run = self.new_run(managed, job, slot=slot)
            try:
                return run.execute()
            finally:
                if run.report is not None:  # also where it was interrupted
                    with self._lock:
                        self.reports.append(run.report)

    def forget(self, report: Report) -> None:
        """Forget an ended run: all of it is in its folder."""
        with self._lock:
            self.reports = [item for item in self.reports if item is not report]

    @contextmanager
    def cluster_for(self, job: Job) -> Iterator[ManagedCluster]:
        """A cluster on which the scenario can run: one for itself, gone after the block, or the shared one.

        Raises:
            UsageProblem: there is no such version, the scenario is not about it, or no cluster can do what the
                scenario does to nodes; then nothing was started.
            EnvironmentNotReady: no Java or no jars are there to run anything with.
        """
        self.require_possible(job)
        timing = self.options.timing_of(job.scenario)
        if job.scenario.needs_own_cluster:
            managed = self._open(timing, job)
            try:
                yield managed
            finally:
                self._end(managed)
            return
        kind = self._kind_of(job)
        managed = self._shared(kind, job)
        try:
            yield managed
        finally:
            self._leave(kind, managed)

    def _kind_of(self, job: Job) -> Kind:
        return job.rocketmq, self.options.timing_of(job.scenario), self._needs(job).shape

    def _leave(self, kind: Kind, managed: ManagedCluster) -> None:
        """A run is over. The last expected run ends the cluster, because idle clusters cost time too."""
        with self._lock:
            self._users[managed] -= 1
            if kind in self._awaited:
                self._awaited[kind] -= 1
                if self._awaited[kind] == 0:
                    del self._awaited[kind]
                    if kind in self._shared_clusters:  # another one, where this run's was old
                        self._retired.add(self._shared_clusters.pop(kind))
            over = self._over()
        for item in over:
            self._end(item)

    def _over(self) -> list[ManagedCluster]:
        """The shared clusters to end now: old or retired ones without runs."""
        for kind, managed in list(self._shared_clusters.items()):
            if self._is_old(managed):
                self._retired.add(self._shared_clusters.pop(kind))
        over = [managed for managed in self._retired if not self._users[managed]]
        self._retired.difference_update(over)
        for managed in over:
            del self._users[managed]
        return over

    def _is_old(self, managed: ManagedCluster) -> bool:
        """Whether it is to take in no new runs; a cluster that stays up beyond this command is never too old."""
        lasting = managed.shared or self.options.keep
        return not lasting and time.monotonic() - managed.since_s > self.options.shared_for_s

    def require_possible(self, job: Job) -> None:
        """Make sure that the scenario can run under these options.

        Raises:
            UsageProblem: it is not about the chosen version, its clients can't speak to it, or the cluster that it
                would get lacks a capability.
        """
        reason = why_not(job.scenario, job.rocketmq, self.options.on)
        if reason is not None:
            raise UsageProblem(reason, "Choose what it can do with: `--rocketmq VERSION`, `--on KIND`.")

    def _shared(self, kind: Kind, job: Job) -> ManagedCluster:
        """The cluster of this kind, used once more; a new one if that is old, or if one of its servers has
        died."""
        with self._lock:
            managed = self._shared_clusters.pop(kind, None)
            if managed is not None and (self._is_old(managed) or not _is_sound(managed)):
                self._retired.add(managed)
                managed = None
            if managed is None:
                self._make_room()
                managed = self._open(kind[1], job)
            self._shared_clusters[kind] = managed
            self._users[managed] += 1
            over = self._over()
        for item in over:
            self._end(item)
        return managed

    def _make_room(self) -> None:
        """Retire the shared cluster with the oldest last use, if there are many."""
        idle = [kind for kind, managed in self._shared_clusters.items() if not self._users[managed]]
        if len(self._shared_clusters) >= SHARED_CLUSTERS_AT_MOST and idle:
            self._retired.add(self._shared_clusters.pop(idle[0]))

    def new_run(
        self, managed: ManagedCluster, job: Job, *, all_own: bool = False, slot: Slot | None = None
    ) -> Run:
        """A run with a folder and a seed of its own, see `Run`.

        Raises:
            EnvironmentNotReady: no run folder can be made.
        """
        seed = self.options.new_seed()
        folder = RunFolder.create(self.options.runs, job.scenario.name, seed)
        return Run(job, managed, folder, seed, all_own=all_own, slot=slot, hold=self.options.hold)

    def run_all(self, jobs: Sequence[Job], parallel: int | None) -> Iterator[Report]:
        """Run several at a time, and yield each report in the order of the jobs.

        Args:
            jobs: what to run; one may be there several times.
            parallel: how many at a time; None: by cores and load, see `harness.engine.admission`.

        Raises:
            UsageProblem: a version isn't there; then nothing was run.
        """
        self._proxied |= {job.rocketmq for job in jobs if job.scenario.cluster_needs.proxy is not None}
        self.fetch(jobs)
        self._make_all_archives(jobs)
        self._awaited.update(self._kind_of(job) for job in jobs if not job.scenario.needs_own_cluster)
        admission = Admission(parallel)

        def run(job: Job) -> Report:
            weight = weight_of(job.scenario, self.options.timing_of(job.scenario))
            with admission.slot(weight, self.interrupted) as slot:
                return self.run(job, slot)

        at_most = min(admission.most, len(jobs))
        if at_most <= 1:
            yield from map(run, jobs)
            return
        with ThreadPoolExecutor(at_most, thread_name_prefix="run") as pool:
            try:
                futures = {index: pool.submit(run, jobs[index]) for index in self._in_order(jobs)}
                for index in range(len(jobs)):
                    yield futures[index].result()
            except BaseException:
                # The other runs are to end as well, each judged and in its folder.
                self.interrupted.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _in_order(self, jobs: Sequence[Job]) -> list[int]:
        kinds = [None if job.scenario.needs_own_cluster else self._kind_of(job) for job in jobs]
        return order_of(kinds, [self.options.timing_of(job.scenario) == "faithful" for job in jobs])

    def absences(self, jobs: Sequence[Job]) -> dict[Need, RocketchaosError]:
        """The releases of RocketMQ that these jobs need and that are not available, with the reason. No jar is
        fetched for that.

        Raises:
            UsageProblem: no such version can be.
            EnvironmentNotReady: the cache can't be used.
        """
        return absences(self._needs_of(jobs), self.options.progress)

    def fetch(self, jobs: Sequence[Job]) -> None:
        """Download the jars of all jobs, several versions at a time. If a download fails, the runs report it.

        Raises:
            UsageProblem: there is no such version.
        """
        with suppress(EnvironmentNotReady):
            absent = self.absences(jobs)
            for error in absent.values():
                if isinstance(error, UsageProblem):
                    raise error
            needs = [need for need in self._needs_of(jobs) if need not in absent]
            fetch(needs, self.options.progress)

    def _needs_of(self, jobs: Sequence[Job]) -> list[Need]:
        return list(dict.fromkeys(need for job in jobs for need in needs_of(job, self.options.on)))

    def _make_all_archives(self, jobs: Sequence[Job]) -> None:
        """Make class-data archives of every version with jars in the cache."""
        for job in jobs[:1]:
            processes = self._processes_of(self.options.timing_of(job.scenario))
            for version in dict.fromkeys(job.rocketmq for job in jobs):
                with suppress(EnvironmentNotReady):
                    processes.fetch(version)
                    self._make_archives(processes, version)

    def _make_archives(self, processes: Processes, version: str) -> None:
        """Make class-data archives of a version with jars in the cache, for programs of this host."""
        if self.options.on is ClusterKind.EMBEDDED:
            # Only once it is known that something is to be started.
            from rocketchaos.harness.engine.archive_run import make_archives

            make_archives(processes, version, proxy=version in self._proxied)

    def _open(self, timing: str, job: Job) -> ManagedCluster:
        scenario = job.scenario
        if self.options.keep:
            require_lasting(self.options.on)
        needs = self._needs(job)
        but_for_the_proxy = needs.model_copy(update={"proxy": None})
        usual = but_for_the_proxy.shape == USUAL.shape and not scenario.needs_own_cluster
        processes = self._processes_of(timing)
        making = Making(
            self.options.on,
            job.rocketmq,
            needs,
            processes,
            delayed=delayed_brokers(scenario),
            shared=not scenario.needs_own_cluster,
        )

        def make_cluster(folder: Path, owner: str) -> Cluster:
            if usual and self.options.use_running and scenario.workers == "host":
                for record in running():
                    if record.fits(job.rocketmq, timing, self.options.on, needs.proxy):
                        processes.progress(f"using the cluster {record.id} that is up")
                        return AttachedCluster(record)
            return making(folder, owner)

        managed = ManagedCluster(processes, job.rocketmq, make_cluster)
        managed.interrupted = self.interrupted
        return managed

    def _needs(self, job: Job) -> ClusterNeeds:
        """The needs of the scenario and of the user. One usual cluster serves all runs of a version: with a proxy,
        if some of them need it.
        """
        needs = job.scenario.cluster_needs
        if job.rocketmq in self._proxied and needs.shape == USUAL.shape:
            needs = needs.with_a_proxy()
        if self.options.dashboard and needs.dashboard is None:
            needs = needs.model_copy(update={"dashboard": DASHBOARD_DEFAULT})
        return needs

    def _processes_of(self, timing: str) -> Processes:
        with self._processes_lock:
            if timing not in self._processes:
                self._processes[timing] = Processes(
                    PROFILES[timing], self.options.progress, shared_for_s=self.options.shared_for_s
                )
            return self._processes[timing]

    def close(self) -> None:
        """End each managed cluster, or keep it if it stays up. Then end the processes that they shared."""
        for managed in (*self._shared_clusters.values(), *self._retired):
            self._end(managed)
        self._shared_clusters.clear()
        self._retired.clear()
        for processes in self._processes.values():
            processes.close()
        self._processes.clear()

    def _end(self, managed: ManagedCluster) -> None:
        cluster = managed.cluster
        if self.options.keep and isinstance(cluster, ServerCluster) and cluster.nodes:
            self.kept.append(keep(cluster))
            managed.hand_over()
        managed.close()


def _is_sound(managed: ManagedCluster) -> bool:
    """Whether runs can use it: no part of it has failed or died, even if it has not started yet."""
    return not managed.failed and (managed.cluster is None or not managed.cluster.deaths())
