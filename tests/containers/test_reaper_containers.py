"""Nothing that a dead harness made in a container engine is left, and nothing else is touched."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from tenacity import RetryError

from rocketchaos.harness.cluster.leftovers import clean, leftovers
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.labels import labels_of
from rocketchaos.harness.core import paths
from rocketchaos.harness.reaper.reaper import Reaper, engines_of, new_owner
from rocketchaos.harness.reaper.reaper_process import OwnedThing, clear_engine, owned_things
from tests.waiting import until

pytestmark = pytest.mark.containers

LIMIT_S = 5.0
"""For everything, from the death of the harness on."""
REAPER_LIMIT_S = 30.0
"""It looks for a while whether anything shows up yet."""
LATEST_MOMENT_S = 3.0

HARNESS = """
import itertools, signal, sys, time
from rocketchaos.harness.containers.container_engine import connect
from rocketchaos.harness.containers.labels import labels_of
from rocketchaos.harness.containers.launch import ContainerPlan, make_network, start
from rocketchaos.harness.reaper.reaper import Reaper, new_owner
engine = connect()
reaper = Reaper.start()
owner = new_owner()
reaper.watch_engine(engine.base_url)
reaper.watch(owner)
reaper.scratch(owner)
def labels(role):
    return labels_of(owner, role, "run")
def container():
    name = f"{owner[-12:]}-{next(number)}"
    plan = ContainerPlan(sys.argv[1], name, labels("worker"), command=["sleep", "300"], subnet=subnet)
    return start(engine, plan)
number = itertools.count()
print(owner, reaper._process.pid, flush=True)
subnet = make_network(engine, owner[-12:], labels("network"))
"""
WITH_ALL_STATES = """
engine.client.volumes.create(owner[-12:], labels=labels("broker"))
container()
container().pause()
container().stop(timeout=0)
print("ready", flush=True)
signal.pause()
"""
MAKES_MORE_AND_MORE = """
while True:
    container()
"""


@dataclass(frozen=True)
class StandIn:
    """A harness in a process of its own."""

    process: subprocess.Popen[str]
    owner: str
    reaper_pid: int

    def says(self, text: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == text


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def owners(engine: Engine) -> Iterator[list[str]]:
    """Of whom a failing test may leave things, which are then removed."""
    tokens: list[str] = []
    yield tokens
    clear_engine(lambda: engine.client, tokens.__contains__, 30)


@pytest.fixture
def begin(owners: list[str], worker_image: str) -> Iterator[Callable[[str], StandIn]]:
    begun: list[subprocess.Popen[str]] = []

    def function(script: str) -> StandIn:
        process = subprocess.Popen(
            [sys.executable, "-c", HARNESS + script, worker_image],
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
            stdout=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        assert process.stdout is not None
        owner, pid = process.stdout.readline().split()
        owners.append(owner)
        return StandIn(process, owner, int(pid))

    yield function
    for process in begun:
        process.kill()
        process.wait()


def kinds(engine: Engine, owner: str) -> list[str]:
    return [thing.kind for thing in owned_things(engine.client, owner.__eq__)]


def kill(harness: StandIn) -> float:
    """When it was killed, on the monotonic clock."""
    harness.process.kill()
    killed_s = time.monotonic()
    harness.process.wait()
    return killed_s


def await_nothing_left(engine: Engine, harness: StandIn, killed_s: float) -> None:
    """Nothing is there after the limit, nor when its reaper has gone."""
    try:
        until(lambda: not kinds(engine, harness.owner), LIMIT_S)
    except RetryError:
        load = ", ".join(f"{average:.0f}" for average in os.getloadavg())
        pytest.fail(f"after {LIMIT_S} s there is still {kinds(engine, harness.owner)}; load {load}")
    print(f"nothing was left after {time.monotonic() - killed_s:.2f} s")
    until(lambda: not psutil.pid_exists(harness.reaper_pid), REAPER_LIMIT_S)
    assert kinds(engine, harness.owner) == []


def make(engine: Engine, image: str, owner: str) -> list[OwnedThing]:
    """A container and a network of this owner, as a test's own."""
    api = engine.client.api
    api.create_container(image, ["sleep", "300"], labels=labels_of(owner, "worker", "run"))
    api.create_network(f"network-{owner[-12:]}", labels=labels_of(owner, "network", "run"))
    return owned_things(engine.client, owner.__eq__)


def test_a_killed_harness_leaves_no_container_network_or_volume(
    begin: Callable[[str], StandIn], engine: Engine
) -> None:
    harness = begin(WITH_ALL_STATES)
    harness.says("ready")
    assert sorted(kinds(engine, harness.owner)) == ["container"] * 3 + ["network", "volume"]
    await_nothing_left(engine, harness, kill(harness))
    assert not (paths.scratch_root() / harness.owner).exists()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("times", [4, pytest.param(20, marks=[pytest.mark.slow, pytest.mark.nightly])])
def test_whenever_it_is_killed_while_it_makes_containers_none_is_left(
    begin: Callable[[str], StandIn], engine: Engine, owners: list[str], times: int
) -> None:
    seed = random.randrange(2**32)
    print(f"the moments are those of seed {seed}")
    moments = random.Random(seed)
    for _ in range(times):
        harness = begin(MAKES_MORE_AND_MORE)
        # No condition: any moment may be the worst one, also one in the middle of a request.
        time.sleep(moments.uniform(0, LATEST_MOMENT_S))
        await_nothing_left(engine, harness, kill(harness))
    # What a request that was under way made later than that would be found here.
    assert owned_things(engine.client, owners.__contains__) == []


def test_a_token_that_is_forgotten_keeps_its_containers(
    engine: Engine, worker_image: str, owners: list[str]
) -> None:
    handle = Reaper.start()
    kept, watched, foreign = (new_owner() for _ in range(3))
    owners += [kept, watched, foreign]
    handle.watch_engine(engine.base_url)
    handle.watch(kept)
    handle.watch(watched)
    handle.unwatch(kept)
    things = {owner: make(engine, worker_image, owner) for owner in owners}
    handle._close(b"")
    found = owned_things(engine.client, owners.__contains__)
    assert {thing.id for thing in found} == {thing.id for thing in things[kept] + things[foreign]}


def test_a_released_reaper_leaves_containers_alone(
    engine: Engine, worker_image: str, owners: list[str]
) -> None:
    with Reaper.start() as handle:
        owners.append(handle.owner)
        handle.watch_engine(engine.base_url)
        made = make(engine, worker_image, handle.owner)
    assert owned_things(engine.client, owners.__contains__) == made


def test_clean_removes_what_a_harness_left_that_died_together_with_its_reaper_and_nothing_else(
    begin: Callable[[str], StandIn], engine: Engine, worker_image: str, owners: list[str]
) -> None:
    harness = begin(WITH_ALL_STATES)
    harness.says("ready")
    psutil.Process(harness.reaper_pid).kill()
    kill(harness)
    living, elsewhere = new_owner(), f"1-1-{'0' * 32}"
    owners += [living, elsewhere]
    paths.scratch_folder(living)
    stays = [*make(engine, worker_image, living), *make(engine, worker_image, elsewhere)]
    without_label = engine.client.api.create_container(worker_image, ["sleep", "300"])["Id"]
    try:
        left = leftovers()
        assert {thing.owner for thing in left.things} == {harness.owner}
        assert len(left.things) == 5
        cleaned = clean()
        assert sorted(thing.kind for thing in cleaned.things) == ["container"] * 3 + ["network", "volume"]
        assert [folder.name for folder in cleaned.folders] == [harness.owner]
        assert cleaned.left == []
        assert kinds(engine, harness.owner) == []
        engine.client.containers.get(without_label)
    finally:
        engine.client.api.remove_container(without_label)
    found = owned_things(engine.client, owners.__contains__)
    assert sorted(thing.id for thing in found) == sorted(thing.id for thing in stays)


def test_clean_spares_the_containers_of_a_cluster_that_a_record_names(
    begin: Callable[[str], StandIn], engine: Engine
) -> None:
    harness = begin(WITH_ALL_STATES)
    harness.says("ready")
    psutil.Process(harness.reaper_pid).kill()
    kill(harness)
    record = paths.state_folder() / "kept.json"
    # Of whichever version of the harness.
    record.write_text(json.dumps({"schema_version": 99, "owner": harness.owner}))
    assert clean().things == []
    assert len(kinds(engine, harness.owner)) == 5
    record.unlink()
    assert len(clean().things) == 5


def test_a_network_that_somebody_elses_container_uses_is_said_to_be_left(
    begin: Callable[[str], StandIn], engine: Engine, worker_image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketchaos.harness.containers.removal._LIMIT_S", 1.0)
    harness = begin(WITH_ALL_STATES)
    harness.says("ready")
    network = next(
        thing for thing in owned_things(engine.client, harness.owner.__eq__) if thing.kind == "network"
    )
    guest = engine.client.containers.run(worker_image, ["sleep", "300"], network=network.name, detach=True)
    try:
        psutil.Process(harness.reaper_pid).kill()
        kill(harness)
        cleaned = clean()
        assert len(cleaned.left) == 1
        assert f"network {network.name} is left: " in cleaned.left[0]
        assert "active endpoints" in cleaned.left[0]
        guest.reload()
        assert guest.status == "running"
        # The evidence of whose it is.
        assert engines_of(paths.scratch_root() / harness.owner) == [engine.base_url]
    finally:
        guest.remove(force=True)
    assert [thing.kind for thing in clean().things] == ["network"]
    assert not (paths.scratch_root() / harness.owner).exists()
