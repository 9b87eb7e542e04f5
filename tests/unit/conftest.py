"""Commands read the shipped scenarios once for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocketchaos.harness.plan import selection
from tests.unit.reading import read_once


@pytest.fixture(scope="session", autouse=True)
def shipped_scenarios_are_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "load_scenario", read_once)
        yield
