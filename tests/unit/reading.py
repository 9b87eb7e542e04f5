"""The shipped scenarios are read once for all tests of a process: frozen, they are the same for everybody."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rocketchaos.harness.plan import scenario_list
from rocketchaos.harness.plan.library import scenarios_folder
from rocketchaos.harness.plan.scenario_list import Listed
from rocketchaos.harness.scenario import load_scenario
from rocketchaos.harness.scenario.model import Scenario


@cache
def _read(path: Path) -> Scenario:
    return load_scenario(path)


def read_once(path: Path) -> Scenario:
    """As `load_scenario`, which the tests of reading ask themselves; files of a test's own may change."""
    return _read(path) if path.is_relative_to(scenarios_folder()) else load_scenario(path)


_list = scenario_list._read
_list_shipped = cache(_list)


def listed_once(path: Path) -> Listed:
    """The same of what lists show of a scenario."""
    return _list_shipped(path) if path.is_relative_to(scenarios_folder()) else _list(path)
