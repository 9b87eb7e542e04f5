"""The pytest plugin, as pytest loads it: options, and the two ways in.

Every pytest in the environment loads this, also for tests that have nothing to do with RocketMQ. So it imports
the rest of rocketchaos only where a scenario is collected, or the fixture is asked for.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

    from rocketchaos.harness.live import LiveRun

SUFFIX = ".scenario.yaml"
_NAME = "rocketchaos-runs"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options; their defaults are the command line's."""
    group = parser.getgroup("rocketchaos", "scenarios on a real RocketMQ")
    group.addoption(
        "--rocketmq",
        metavar="VERSION|DIR",
        help="RocketMQ of servers and clients, or the folder of a build of your own (default: 4.9.4)",
    )
    group.addoption(
        "--matrix",
        action="append",
        metavar="DIMENSION=A,B",
        help="every client on every version: `--matrix 'clients=java,python rocketmq=4.9.4,5.5.0'`",
    )
    group.addoption(
        "--on",
        choices=("embedded", "containers"),
        help="name server and brokers as processes of this host, or in containers (default: embedded)",
    )
    group.addoption(
        "--dashboard",
        action="store_true",
        help="with RocketMQ's dashboard as a third witness, in a container",
    )
    group.addoption(
        "--timing",
        choices=("compressed", "faithful"),
        help="RocketMQ's own timers, or shortened ones (default: what the scenario says)",
    )
    group.addoption(
        "--runs-dir", metavar="FOLDER", help="where run folders go (default: ROCKETCHAOS_RUNS or ./runs)"
    )
    group.addoption(
        "--rocketchaos-seed",
        metavar="NUMBER",
        type=_seed,
        help="recorded in each run (default: a random one)",
    )


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no seed: give a whole number")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a `--matrix` that can't be meant so."""
    if config.getoption("--matrix"):
        _require_matrix(config)


def _require_matrix(config: pytest.Config) -> None:
    """Say what is wrong with `--matrix` once, and not of every scenario."""
    from rocketchaos.harness.core.errors import UsageProblem

    try:
        _plugin(config).matrix_of(config.getoption("--matrix"))
    except UsageProblem as problem:
        raise pytest.UsageError(f"rocketchaos: {problem}") from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A `*.scenario.yaml` is a test."""
    if not file_path.name.endswith(SUFFIX):
        return None
    collector: pytest.Collector = _plugin(parent.config).ScenarioFile.from_parent(parent, path=file_path)
    return collector


@pytest.fixture
def rocketmq(request: pytest.FixtureRequest) -> Iterator[LiveRun]:
    """A real RocketMQ: declare topics and consumers, then do the steps of a scenario, and check, in Python."""
    with _plugin(request.config).live_run(request) as run:
        yield run


def _plugin(config: pytest.Config) -> ModuleType:
    """The other half of the plugin, which is registered when it is first needed."""
    from rocketchaos.harness import pytest_items

    if not config.pluginmanager.has_plugin(_NAME):
        config.pluginmanager.register(pytest_items, _NAME)
    return pytest_items
