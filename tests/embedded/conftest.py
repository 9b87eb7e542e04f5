"""One real RocketMQ for all tests of this folder; each test has topics and groups of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from harness import paths
from harness.campaign import Campaign
from harness.cluster.embedded import EmbeddedCluster
from harness.live import LiveRun
from harness.options import Options
from harness.timing import COMPRESSED
from tests.embedded.workbench import Bench


@pytest.fixture(scope="session", autouse=True)
def own_clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Of tests side by side each process has a cache of its own, but for what is fetched.

    A cluster that a test keeps up would serve the commands of all others, and be taken down or killed under them.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    own = tmp_path_factory.mktemp("cache")
    made_once = (paths.maven_folder(), paths.clients_folder(), paths.hooks_folder(), paths.archives_folder())
    for fetched in made_once:
        (own / fetched.name).symlink_to(fetched)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(paths.CACHE_VARIABLE, str(own))
        yield


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedCluster]:
    cluster = EmbeddedCluster("4.9.4", COMPRESSED, tmp_path_factory.mktemp("cluster"), owner="tests")
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def bench(cluster: EmbeddedCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(cluster, tmp_path_factory.mktemp("workers"))
    yield bench
    for worker in bench.workers:
        worker.kill()


@pytest.fixture
def group(bench: Bench) -> str:
    return f"group-{next(bench.numbers)}"


@pytest.fixture(scope="session")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Campaign]]:
    made: dict[str, Campaign] = {}

    def of(version: str) -> Campaign:
        if version not in made:
            runs = tmp_path_factory.mktemp(f"runs-{version}")
            made[version] = Campaign(Options(version=version, runs=runs, use_running=False))
        return made[version]

    yield of
    for campaign in made.values():
        campaign.close()


@pytest.fixture
def version() -> str:
    return "4.9.4"


@pytest.fixture
def rocketmq(
    campaigns: Callable[[str], Campaign], version: str, request: pytest.FixtureRequest
) -> Iterator[LiveRun]:
    with LiveRun(campaigns(version), request.node.originalname, "A client") as run:
        run.topic("orders", queues=4)
        yield run
