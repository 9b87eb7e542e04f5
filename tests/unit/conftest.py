"""What all tests of a process share: the shipped scenarios, read once, and how they are run."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from rocketchaos.harness.plan import scenario_list, selection
from tests.unit.reading import listed_once, read_once

# `make test` tries few examples of each property, `make test-scenarios` many. There is no deadline: how long one
# takes depends on the machine and its load.
settings.register_profile("few", deadline=None, max_examples=32)
settings.register_profile("many", deadline=None, max_examples=200)
settings.load_profile(os.environ.get("EXAMPLES", "few"))


@pytest.fixture(scope="session", autouse=True)
def shipped_scenarios_are_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "load_scenario", read_once)
        patch.setattr(scenario_list, "_read", listed_once)
        yield
