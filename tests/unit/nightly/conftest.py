"""Nights of many tests draw the same scenarios."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocketchaos.harness.nightly import night
from tests.unit.nightly.drawn import drawn_once


@pytest.fixture(autouse=True)
def nights_draw_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(night, "scenario_of", drawn_once)
        yield
