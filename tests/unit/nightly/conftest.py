"""Nights of many tests draw the same scenarios, and look for no garbage, which here is all of pytest's process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocketchaos.harness.nightly import night
from tests.unit.nightly.drawn import drawn_once


@pytest.fixture(autouse=True)
def nights_draw_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(night, "scenario_of", drawn_once)
        patch.setattr(night, "give_back", lambda: None)
        yield
