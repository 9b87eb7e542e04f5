"""One real RocketMQ for all tests of this folder; each test has topics and groups of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.cluster.embedded import EmbeddedCluster
from harness.timing import COMPRESSED
from tests.embedded.workbench import Bench


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
