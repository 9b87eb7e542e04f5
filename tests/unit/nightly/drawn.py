"""Scenarios by their numbers, each drawn once for all tests of a process: they depend on nothing else."""

from __future__ import annotations

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.nightly import generator
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.scenario.model import Scenario

_DRAWN: dict[tuple[int, int, str, ClusterKind], Scenario] = {}


def drawn_once(seed: int, number: int, profile: Profile, on: ClusterKind = ClusterKind.EMBEDDED) -> Scenario:
    """As `scenario_of`. Whether seed, number, profile and cluster alone decide, tests of the generator ask."""
    key = (seed, number, profile.model_dump_json(), on)
    if key not in _DRAWN:
        _DRAWN[key] = generator.scenario_of(seed, number, profile, on)
    return _DRAWN[key]
