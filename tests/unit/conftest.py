"""What all tests of a process share: the shipped scenarios, read once, and how they are run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from rocketchaos.harness.plan import selection
from tests.unit.reading import read_once

# How long an example takes is a matter of the machine and of who else is on it.
settings.register_profile("without deadline", deadline=None)
settings.load_profile("without deadline")


@pytest.fixture(scope="session", autouse=True)
def shipped_scenarios_are_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "load_scenario", read_once)
        yield
