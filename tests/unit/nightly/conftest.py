"""Nights of many tests draw the same scenarios: what a number gives depends on seed, profile and cluster alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.cluster.kinds import ClusterKind
from harness.nightly import generator, night
from harness.nightly.profile import Profile
from harness.scenario import Scenario

_DRAWN: dict[tuple[int, int, str, ClusterKind], Scenario] = {}


def drawn_once(seed: int, number: int, profile: Profile, on: ClusterKind = ClusterKind.EMBEDDED) -> Scenario:
    """As `scenario_of`, which a night calls: the tests of the generator ask that itself, and whether it is so."""
    key = (seed, number, profile.model_dump_json(), on)
    if key not in _DRAWN:
        _DRAWN[key] = generator.scenario_of(seed, number, profile, on)
    return _DRAWN[key]


@pytest.fixture(autouse=True)
def nights_draw_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(night, "scenario_of", drawn_once)
        yield
