"""Tries a worker: every check, on a cluster of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.conformance.bench import Bench, NotSo
from rocketchaos.harness.conformance.checks import CHECKS, Check
from rocketchaos.harness.core.errors import RocketchaosError
from rocketchaos.harness.engine.cluster_choice import Making
from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.workers.on_host import OnHost
from rocketchaos.harness.workers.processes import Processes, Progress
from rocketchaos.harness.workers.worker import OnDeath, OnEvent, Worker
from rocketchaos.harness.workers.worker_kinds import WorkerKind


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one check."""

    api: str
    check: str
    outcome: Literal["passed", "failed", "not applicable"]
    why: str = ""


def results(
    kind: ClientKind, worker_kind: WorkerKind, rocketmq: str, folder: Path, progress: Progress
) -> Iterator[Result]:
    """Every check with every way of consuming, one after the other.

    Args:
        kind: the traits that it must live up to.
        worker_kind: its program.
        rocketmq: the servers' version.
        folder: for what the workers print and write.
        progress: called with a few words before anything that takes time.

    Raises:
        EnvironmentNotReady: RocketMQ, or the program, can't be started.
    """
    with Processes(COMPRESSED, progress) as processes:
        processes.fetch(rocketmq)
        needs = ClusterNeeds(
            broker={"enablePropertyFilter": True},
            proxy="local" if kind.needs_proxy else None,
        )
        making = Making(ClusterKind.EMBEDDED, rocketmq, needs, processes)
        with ManagedCluster(processes, rocketmq, making) as managed:
            cluster, admin = managed.ready()
            for api in kind.apis.values():
                why_not = api.why_not(rocketmq, kind.version or rocketmq)
                if why_not is not None:
                    yield from (Result(api.name, check_id, "not applicable", why_not) for check_id in CHECKS)
                    continue

                def spawn(name: str, on_event: OnEvent, on_death: OnDeath, api: Api = api) -> Worker:
                    return _spawn(
                        processes, kind, worker_kind, rocketmq, folder / api.name, name, on_event, on_death
                    )

                bench = Bench(kind, api, cluster, admin, spawn)
                try:
                    for check_id, check in CHECKS.items():
                        progress(f"{api.name}: {check_id}")
                        yield _result(bench, check_id, check)
                finally:
                    bench.release()


def _result(bench: Bench, check_id: str, check: Check) -> Result:
    try:
        why = check(bench)
    except NotSo as failure:
        return Result(bench.api.name, check_id, "failed", str(failure))
    except RocketchaosError as failure:
        return Result(bench.api.name, check_id, "failed", failure.message)
    except (KeyError, IndexError, TypeError, ValueError) as failure:
        return Result(bench.api.name, check_id, "failed", f"an answer lacks something: {failure!r}")
    return Result(bench.api.name, check_id, "passed" if why is None else "not applicable", why or "")


def _spawn(
    processes: Processes,
    kind: ClientKind,
    worker_kind: WorkerKind,
    rocketmq: str,
    folder: Path,
    name: str,
    on_event: OnEvent,
    on_death: OnDeath,
) -> Worker:
    from rocketchaos.harness.jars.artifacts import classpath

    folder.mkdir(parents=True, exist_ok=True)
    role = worker_kind.classpath_role
    return Worker.spawn(
        worker_kind,
        name,
        home=OnHost(processes.reaper.owner, processes.java),
        classpath=() if role is None else classpath(kind.version or rocketmq, role, processes.progress),
        packages=worker_kind.packages_folder(processes.progress),
        library=worker_kind.library(processes.progress),
        program=worker_kind.program(kind.version or rocketmq, processes.progress),
        log_folder=folder,
        on_event=on_event,
        on_death=on_death,
    )
