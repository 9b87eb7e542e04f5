"""The shipped scenarios, for all tests of a process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.scenario.model import Scenario
from tests.unit.reading import read_once

_Item = TypeVar("_Item")


@cache
def library() -> Sequence[Scenario]:
    """All of them. Reading takes seconds, so a process whose tests need none reads none."""
    return [read_once(path) for path in sorted(shipped().values())]


def some(items: Sequence[_Item]) -> Sequence[_Item]:
    """Every eighth of many of a kind; all of them at night, when `EXAMPLES` is `many`."""
    return items if os.environ.get("EXAMPLES") == "many" else items[::8]
