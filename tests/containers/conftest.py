"""Tests of this folder need a container engine; without one they say so, and are left out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocketchaos.harness.containers.container_engine import Engine, connect
from rocketchaos.harness.containers.images import Images
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.reaper.reaper import Reaper

LONGEST = ("test_users_images", "test_containers_cluster", "test_testcontainers_rocketmq", "test_images")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first (`--no-loadscope-reorder`): at the end nobody waits for a single file."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine of this machine."""
    try:
        return connect()
    except EnvironmentNotReady as refusal:
        pytest.skip(refusal.message)


@pytest.fixture
def reaper(engine: Engine) -> Iterator[Reaper]:
    """Whoever removes what a test leaves on the engine."""
    with Reaper.start() as reaper:
        reaper.watch_engine(engine.base_url)
        yield reaper


@pytest.fixture(scope="session")
def worker_image(engine: Engine) -> str:
    """The name of an image with a shell."""
    try:
        return Images(engine, print).worker().name
    except EnvironmentNotReady as refusal:
        pytest.skip(refusal.message)
