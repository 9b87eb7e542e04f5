"""Workers in containers: the same protocol as on this host, on a channel that faults don't touch."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import rocketchaos
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.labels import OWNER_LABEL, labels_of
from rocketchaos.harness.containers.launch import ContainerPlan, Subnet, make_network, start
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.workers.addresses import Addresses
from rocketchaos.harness.workers.child_command import child_command, prepare_folder
from rocketchaos.harness.workers.container_program import EVENTS_FD, SHELL, ContainerProgram, held_back
from rocketchaos.harness.workers.in_containers import InContainers
from rocketchaos.harness.workers.program import WorkerHome, WorkerPlan
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_kinds import KINDS, WorkerKind
from tests.containers.recorder import Recorder
from tests.waiting import until

pytestmark = pytest.mark.containers

CHILDREN = Path(__file__).parent.parent / "unit" / "workers" / "children"
ROOT = CHILDREN.parent.parent.parent
LIMIT_S = 30.0
OWNER = f"{os.getpid()}-container-workers"


class Children:
    """Containers whose program is a child of the unit tests, not of the package."""

    def __init__(self, engine: Engine, image: str, subnet: Subnet) -> None:
        self.engine, self.image, self.subnet = engine, image, subnet
        self.addresses = Addresses(subnet)

    def launch(self, plan: WorkerPlan) -> ContainerProgram:
        prepare_folder(plan)
        address = self.addresses.take()
        package = Path(rocketchaos.__file__).parent
        container = start(
            self.engine,
            ContainerPlan(
                self.image,
                f"{OWNER}-{plan.name}-{address}",
                labels_of(OWNER, "worker", "tests"),
                entrypoint=[SHELL],
                command=held_back(child_command(plan, "python3", EVENTS_FD)),
                environment={"PYTHONPATH": "/packages:/children", "PYTHONDONTWRITEBYTECODE": "1"},
                mounts={
                    package: ("/packages/rocketchaos", "ro"),
                    package.parent / "harness": ("/packages/harness", "ro"),
                    CHILDREN: ("/children", "ro"),
                    plan.folder: (str(plan.folder), "rw"),
                },
                subnet=self.subnet,
                address=address,
                keeps_stdin=True,
                keeps_log=False,
            ),
        )
        return ContainerProgram(
            self.engine, container, plan.name, address, plan.log, lambda: self.addresses.give_back(address)
        )


@pytest.fixture(scope="module")
def subnet(engine: Engine) -> Iterator[Subnet]:
    subnet = make_network(engine, f"{OWNER}-network", labels_of(OWNER, "network", "tests"))
    yield subnet
    subnet.network.remove()


@pytest.fixture(scope="module")
def children(engine: Engine, worker_image: str, subnet: Subnet) -> Children:
    return Children(engine, worker_image, subnet)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


Spawn = Callable[..., Worker]


@pytest.fixture
def spawn(children: Children, tmp_path: Path, recorder: Recorder, engine: Engine) -> Iterator[Spawn]:
    spawned: list[Worker] = []

    def spawn_one(
        kind: WorkerKind | None = None, name: str = "b", home: WorkerHome | None = None, **more: object
    ) -> Worker:
        worker = Worker.spawn(
            kind or WorkerKind("child", "worker_obedient", None),
            name,
            home=home or children,
            log_folder=tmp_path,
            on_event=recorder.on_event,
            on_death=recorder.on_death,
            **more,  # type: ignore[arg-type]
        )
        spawned.append(worker)
        return worker

    yield spawn_one
    for worker in spawned:
        worker.release()
    assert left(engine) == []


def left(engine: Engine) -> list[str]:
    label = f"{OWNER_LABEL}={OWNER}"
    # One may go between the list and the look at each.
    ours = engine.client.containers.list(all=True, filters={"label": label}, ignore_removed=True)
    return [str(container.name) for container in ours]


@pytest.fixture
def worker(spawn: Spawn) -> Worker:
    worker = spawn()
    worker.wait_ready(LIMIT_S)
    return worker


def test_events_arrive_complete_and_in_order_under_load(worker: Worker, recorder: Recorder) -> None:
    worker.request("emit", LIMIT_S, count=50_000, size=300)
    assert recorder.numbers == list(range(50_000))
    assert {len(event.data["filler"]) for event in recorder.events[1:]} == {300}
    # In each of these a frame of the engine is torn.
    worker.request("emit", LIMIT_S, count=5, size=1_000_000)
    assert [len(event.data["filler"]) for event in recorder.events[-5:]] == [1_000_000] * 5


def test_its_clock_is_this_hosts(worker: Worker, recorder: Recorder, engine: Engine) -> None:
    before_ns = time.monotonic_ns()
    worker.request("emit", LIMIT_S, count=1, size=0)
    slack_ns = recorder.events[0].data.get("clock_uncertainty_ms", 0) * 1_000_000
    assert before_ns - slack_ns <= recorder.events[-1].mono_ns <= time.monotonic_ns() + slack_ns
    assert engine.in_vm == ("clock_uncertainty_ms" in recorder.events[0].data)


def test_a_kill_in_mid_batch_loses_no_event_that_was_written(
    spawn: Spawn, recorder: Recorder, tmp_path: Path
) -> None:
    worker = spawn()
    worker.wait_ready(LIMIT_S)
    diary = tmp_path / "b" / "diary"
    with ThreadPoolExecutor(1) as pool:
        pool.submit(worker.request, "emit-for-ever", LIMIT_S, diary=str(diary))
        until(lambda: diary.exists() and diary.read_bytes() > b"%09d" % 1000)
        worker.kill()
    noted = int(diary.read_bytes())
    assert recorder.numbers == list(range(len(recorder.numbers)))
    # It may have died between the writing of an event and the note of it.
    assert len(recorder.numbers) in (noted + 1, noted + 2)
    assert (worker.alive, worker.returncode, recorder.deaths) == (False, -9, [])


def test_death_by_itself_is_reported_and_leaves_nothing(
    worker: Worker, recorder: Recorder, engine: Engine
) -> None:
    with pytest.raises(EnvironmentNotReady, match=r"died \(exit code 3\) before it answered `end`"):
        worker.request("end", LIMIT_S, code=3)
    assert recorder.deaths == [("b", "exit code 3", Trouble.ENVIRONMENT)]
    assert left(engine) == []
    with pytest.raises(EnvironmentNotReady, match="worker b can't be paused: it is gone"):
        worker.pause()


def test_what_a_stillborn_worker_printed_is_in_its_log(spawn: Spawn) -> None:
    worker = spawn(WorkerKind("child", "worker_stillborn", None))
    with pytest.raises(EnvironmentNotReady) as raised:
        worker.wait_ready(LIMIT_S)
    assert "worker b died: exit code 1;" in raised.value.message
    assert "\n    the jars are not there" in raised.value.message


def test_death_for_lack_of_memory_is_named(worker: Worker, recorder: Recorder, engine: Engine) -> None:
    assert worker.container is not None
    engine.client.containers.get(worker.container.id).update(mem_limit="64m", memswap_limit="64m")
    with pytest.raises(EnvironmentNotReady, match="out of memory"):
        worker.request("emit", LIMIT_S, count=1, size=500_000_000)
    [(name, reason, trouble)] = recorder.deaths
    assert (name, trouble) == ("b", Trouble.ENVIRONMENT)
    # An engine may never hear of the reason: then the death is as certain, and its reason a guess.
    assert re.match("signal SIGKILL, (perhaps )?out of memory", reason)


def test_a_container_that_somebody_else_removes_is_a_death(
    worker: Worker, recorder: Recorder, engine: Engine
) -> None:
    assert worker.container is not None
    engine.client.containers.get(worker.container.id).remove(force=True)
    until(lambda: recorder.deaths != [])
    [(name, reason, trouble)] = recorder.deaths
    assert (name, trouble) == ("b", Trouble.ENVIRONMENT)
    assert re.match("signal SIGKILL, perhaps out of memory|somebody removed its container", reason)


def test_a_paused_worker_stands_still_until_it_is_resumed(
    worker: Worker, recorder: Recorder, engine: Engine
) -> None:
    worker.pause()
    assert worker.container is not None
    assert engine.client.containers.get(worker.container.id).status == "paused"
    with pytest.raises(EnvironmentNotReady, match=r"did not answer `ping` within 0.3 s; .*; it is paused"):
        worker.request("ping", 0.3)
    worker.resume()
    assert worker.request("ping", LIMIT_S) == {}
    assert recorder.deaths == []


def test_a_paused_worker_can_be_killed_and_stopped(spawn: Spawn, recorder: Recorder) -> None:
    for end, name in ((Worker.kill, "b"), (lambda worker: worker.stop(60), "c")):
        worker = spawn(name=name)
        worker.wait_ready(LIMIT_S)
        worker.pause()
        end(worker)
        assert worker.returncode == -9
    assert recorder.deaths == []


def test_sigterm_has_it_end_by_itself(spawn: Spawn, recorder: Recorder) -> None:
    worker = spawn(WorkerKind("child", "worker_with_clients", None))
    worker.wait_ready(LIMIT_S)
    worker.request("start-consumer", LIMIT_S, name="one")
    worker.terminate()
    worker.wait_terminated(LIMIT_S)
    assert (worker.returncode, recorder.deaths) == (143, [])
    assert recorder.events[-1].kind == "stopped"


def test_the_end_of_its_input_ends_it(spawn: Spawn, recorder: Recorder) -> None:
    worker = spawn()
    worker.wait_ready(LIMIT_S)
    worker.stop(LIMIT_S)
    assert (worker.returncode, recorder.deaths) == (0, [])
    stubborn = spawn(name="c")
    stubborn.request("ignore-end-of-input", LIMIT_S)
    stubborn.stop(0.5)
    assert (stubborn.returncode, recorder.deaths) == (-9, [])


def test_many_at_once_have_channels_and_addresses_of_their_own(
    spawn: Spawn, recorder: Recorder, engine: Engine
) -> None:
    with ThreadPoolExecutor(8) as pool:
        workers = list(pool.map(lambda number: spawn(name=f"w{number}"), range(8)))
        for _ in pool.map(lambda worker: worker.request("emit", LIMIT_S, count=3000, size=100), workers):
            pass
        for worker in workers:
            of_it = [event for event in recorder.events if event.worker == worker.name]
            assert [event.data.get("number") for event in of_it] == [None, *range(3000)]
        assert len({worker.container.address for worker in workers if worker.container}) == 8
        list(pool.map(Worker.kill, workers))
    assert {worker.returncode for worker in workers} == {-9}


def test_faults_of_the_network_do_not_touch_the_channel(
    worker: Worker, spawn: Spawn, recorder: Recorder, engine: Engine, worker_image: str
) -> None:
    assert worker.container is not None
    neighbour = spawn(name="c").container
    assert neighbour is not None
    inside = engine.client.containers.get(worker.container.id)

    def reached() -> str:
        knock = f"import socket; print(socket.socket().connect_ex(('{neighbour.address}', 9)))"
        return str(inside.exec_run(["timeout", "2", "python3", "-c", knock]).output.decode()).strip()

    assert reached() == "111", "the neighbour refuses, so that packets go both ways"
    cut = "iptables -I INPUT -j DROP && iptables -I OUTPUT -j DROP && sleep 60"
    plan = ContainerPlan(
        worker_image,
        f"{OWNER}-sidecar",
        labels_of(OWNER, "sidecar", "tests"),
        entrypoint=[SHELL, "-c", cut],
        command=[],
        network_of=worker.container.id,
        capabilities=["NET_ADMIN"],
    )
    sidecar = start(engine, plan)
    try:
        until(lambda: reached() == "")
        worker.request("emit", LIMIT_S, count=5000, size=100)
        assert recorder.numbers == list(range(5000))
        worker.pause()
        worker.resume()
        worker.kill()
        assert worker.returncode == -9
    finally:
        sidecar.remove(force=True)


_HARNESS = """
import sys, threading
from pathlib import Path
from rocketchaos.harness.containers.container_engine import connect
from tests.containers.test_container_workers import Children, Recorder, WorkerKind, Worker, Subnet
import ipaddress

engine, recorder = connect(), Recorder()
image, network, addresses, folder = sys.argv[1:]
subnet = Subnet(engine.client.networks.get(network), ipaddress.IPv4Network(addresses))
worker = Worker.spawn(
    WorkerKind("child", "worker_obedient", None), "b", home=Children(engine, image, subnet),
    log_folder=Path(folder), on_event=recorder.on_event, on_death=recorder.on_death,
)
worker.wait_ready(30)
print(worker.container.id, flush=True)
threading.Event().wait()
"""


def test_a_worker_does_not_outlive_the_harness(
    engine: Engine, worker_image: str, subnet: Subnet, tmp_path: Path
) -> None:
    """Without a reaper: the end of the channel is the end of its input."""
    arguments = [worker_image, str(subnet.network.id), str(subnet.addresses), str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", _HARNESS, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        container = engine.client.containers.get(process.stdout.readline().strip())
        assert container.status == "running"
        process.kill()
    assert container.wait(timeout=int(LIMIT_S))["StatusCode"] == 0
    container.remove()


# A user's program runs on this host alone.
@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.users_program])
def test_the_real_workers_run_from_mounted_code_and_jars(
    kind: str, spawn: Spawn, engine: Engine, worker_image: str, subnet: Subnet, tmp_path: Path
) -> None:
    chosen = KINDS[kind]
    role = chosen.classpath_role
    home = InContainers(engine, worker_image, subnet, owner=OWNER, run="workers")
    worker = spawn(
        chosen,
        "b",
        home,
        classpath=() if role is None else classpath("5.2.0" if kind == "grpc-java" else "4.9.4", role),
        packages=chosen.packages_folder(),
        library=chosen.library(),
        program=chosen.program("2.1.2"),
    )
    worker.wait_ready(LIMIT_S)
    nowhere = {"nameserver": "127.0.0.1:1", "instance": "i"}
    if kind == "admin":
        worker.request("connect", LIMIT_S, **nowhere)
    elif not kind.startswith(
        "grpc"
    ):  # Its clients start with a proxy alone. Ready, it has loaded its packages.
        answer = worker.request("start-producer", LIMIT_S, name="p", group="g", client_ip="ip", **nowhere)
        # The C++ client puts its pid and address first.
        assert answer["client_id"] == "ip@i" or answer["client_id"].endswith("@ip-i")
    if kind == "go":  # its client writes nothing before there is something to say
        worker.stop(LIMIT_S)
        assert worker.returncode == 0
        return
    until(lambda: any(True for _ in (tmp_path / "b").rglob("*rocketmq*.log*")))
    log = next((tmp_path / "b").rglob("*rocketmq*.log*"))
    if not engine.in_vm:
        assert (log.stat().st_uid, log.stat().st_gid) == (os.getuid(), os.getgid())
    worker.stop(LIMIT_S)
    assert worker.returncode == 0


def test_a_container_that_can_not_be_started_is_reported_and_costs_no_address(
    spawn: Spawn, engine: Engine, worker_image: str
) -> None:
    lost = make_network(engine, f"{OWNER}-lost", labels_of(OWNER, "network", "tests"))
    lost.network.remove()
    home = InContainers(engine, worker_image, lost, owner=OWNER, run="lost")
    for _ in range(50):
        with pytest.raises(EnvironmentNotReady, match=r"worker b can't be started: .*network"):
            spawn(WorkerKind("child", "worker_obedient", None), "b", home)
    assert left(engine) == []
