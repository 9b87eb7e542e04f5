"""One real RocketMQ for all tests of a process of pytest; each test has topics and groups of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.cluster.running import keep
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.harness.live import LiveRun
from rocketchaos.harness.plan.options import DEFAULT_VERSION, Options
from rocketchaos.harness.reaper.reaper import Reaper, new_owner
from rocketchaos.harness.reporting.document import document
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.scenario import load_scenario, parse_scenario
from tests.embedded.caches import cache, cache_with_downloads
from tests.embedded.small_scenario import RunScenario
from tests.embedded.users_programs import SCRIPT, WAYWARD, RunOwn, jar_of
from tests.embedded.workbench import Bench

LONGEST = (
    "test_service_examples",
    "test_live",
    "test_scenarios",
    "test_documents",
    "test_endings",
    "test_users_programs",
    "test_grpc_worker",
    "test_commands",
    "test_ways_of_consuming",
    "test_diagnose",
    "test_diagnose_backlogs",
    "test_diagnose_proxy",
    "test_allocation_of_members",
    "test_raw_steps",
    "test_name_servers",
    "test_claims",
    "test_shrink",
    "test_programs_side_by_side",
    "test_python_worker",
    "test_ways_of_sending",
    "test_embedded_cluster",
    "test_users_grpc",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first (`--no-loadscope-reorder`): at the end nobody waits for a single test."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))


@pytest.fixture(scope="session", autouse=True)
def own_clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each test process has its own cache; downloads are shared.

    A cluster that a test keeps up would serve the commands of all others, and be taken down or killed under them.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    with cache(cache_with_downloads(tmp_path_factory.mktemp("cache"))):
        yield


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedCluster]:
    """The cluster that all share who do nothing to its servers."""
    owner = new_owner()
    with Reaper.start() as reaper:
        reaper.watch(owner)
        cluster = EmbeddedCluster(
            DEFAULT_VERSION, COMPRESSED, tmp_path_factory.mktemp("cluster"), owner=owner
        )
        cluster.start()
        yield cluster
        cluster.stop()


@pytest.fixture(scope="session")
def shared_cache(cluster: EmbeddedCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which the shared cluster is up, as `rocketchaos up` leaves one: whoever uses it starts none."""
    folder = cache_with_downloads(tmp_path_factory.mktemp("shared-cache"))
    with cache(folder):
        keep(cluster)
    return folder


@pytest.fixture
def on_shared_cluster(shared_cache: Path) -> Iterator[None]:
    """Commands use the shared cluster where it fits: for tests whose subject is not how clusters start and end."""
    with cache(shared_cache):
        yield


@pytest.fixture(scope="module")
def bench(cluster: EmbeddedCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(cluster, tmp_path_factory.mktemp("workers"))
    yield bench
    bench.release()


@pytest.fixture
def group(bench: Bench) -> str:
    return f"group-{next(bench.numbers)}"


@pytest.fixture(scope="session")
def shared_runner(shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """Runs on the shared cluster, whose clients share warm JVMs."""
    with Runner(Options(runs=tmp_path_factory.mktemp("runs"))) as runner:
        yield runner


@pytest.fixture(scope="module")
def runners(
    shared_runner: Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Runner]]:
    """By version. Those of other versions end with the module: an idle 5.x takes a fifth of a core."""
    made: dict[str, Runner] = {DEFAULT_VERSION: shared_runner}

    def of(version: str) -> Runner:
        if version not in made:
            runs = tmp_path_factory.mktemp(f"runs-{version}")
            made[version] = Runner(Options(version=version, runs=runs, use_running=False))
        return made[version]

    yield of
    for version, runner in made.items():
        if version != DEFAULT_VERSION:
            runner.close()


@pytest.fixture
def version() -> str:
    return DEFAULT_VERSION


@pytest.fixture
def rocketmq(
    runners: Callable[[str], Runner],
    version: str,
    on_shared_cluster: None,
    request: pytest.FixtureRequest,
) -> Iterator[LiveRun]:
    with LiveRun(runners(version), request.node.originalname, "A client") as run:
        run.topic("orders", queues=4)
        yield run


@pytest.fixture(scope="module")
def run_scenario(runners: Callable[[str], Runner], shared_cache: Path) -> RunScenario:
    """Runs scenarios of a test's own here, on clusters that they share where they do nothing to servers."""

    def run(text: str, version: str = DEFAULT_VERSION, *, trouble: str | None = None) -> dict[str, Any]:
        runner = runners(version)
        with cache(shared_cache):
            report = runner.run(runner.job(parse_scenario(text, "s.scenario.yaml")))
        found: dict[str, Any] = document([report])["runs"][0]
        assert found["trouble"] in (None, trouble), found["reason"]
        return found

    return run


@pytest.fixture(scope="module")
def run_own(runners: Callable[[str], Runner], shared_cache: Path) -> RunOwn:
    """Runs scenarios with programs of users', by a runner that has its processes already."""

    def run(folder: Path, text: str, version: str = DEFAULT_VERSION) -> tuple[int, dict[str, Any]]:
        file = folder / "own.scenario.yaml"
        file.write_text(text)
        runner = runners(version)
        with cache(shared_cache):
            told = document([runner.run(runner.job(load_scenario(file)))])
        return told["summary"]["exit_code"], told["runs"][0]

    return run


@pytest.fixture(scope="session")
def wayward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The jar of a program that does what its mode says, with RocketMQ's client 4.9.4."""
    return jar_of([WAYWARD], "Wayward", tmp_path_factory.mktemp("jar") / "wayward.jar")


@pytest.fixture(scope="session")
def service(wayward: Path) -> str:
    """The text of a script around that jar."""
    return SCRIPT.format(java=find_java().executable, jar=wayward)
