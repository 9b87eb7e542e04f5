"""Which versions a bisect asks."""

from __future__ import annotations

import pytest

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.jars.releases import Release
from rocketchaos.harness.plan.candidates import candidates
from rocketchaos.harness.plan.library import find
from rocketchaos.harness.scenario import load_scenario

KNOWN = [
    Release("4.9.4", cached=True),
    Release("4.9.6", cached=False, lacks=("rocketmq-broker",)),
    Release("5.0.0", cached=False, proxy=True),
    Release("5.1.3", cached=False, lacks=("rocketmq-namesrv",), proxy=True),
    Release("5.1.4", cached=False),
    Release("5.5.0", cached=True, proxy=True),
]
A, B, OLD = "5.5.1-SNAPSHOT+ab12cd34", "5.5.1-SNAPSHOT+00000000", "5.0.0+11111111"


def test_all_that_can_be_run_and_the_others_named() -> None:
    found = candidates(KNOWN)
    assert found.versions == ("4.9.4", "5.0.0", "5.1.4", "5.5.0")
    assert found.left_out == {
        "4.9.6": "there is no rocketmq-broker of it",
        "5.1.3": "there is no rocketmq-namesrv of it",
    }
    assert found.between("5.0.0", "5.1.4") == ["5.1.3"]
    assert found.between("5.0.0", "5.1.3+ab12cd34") == ["5.1.3"]
    assert found.between("5.1.3+ab12cd34", "5.1.4") == []


def test_from_one_to_another() -> None:
    found = candidates(KNOWN, oldest="5.0.0", newest="5.1.4")
    assert found.versions == ("5.0.0", "5.1.4")
    assert list(found.left_out) == ["5.1.3"]


def test_builds_stand_behind_the_release_of_their_version_in_their_order() -> None:
    found = candidates(KNOWN, [A, B, OLD], oldest="5.0.0")
    assert found.versions == ("5.0.0", OLD, "5.1.4", "5.5.0", A, B)


def test_a_build_may_be_an_end() -> None:
    assert candidates(KNOWN, oldest="5.5.0", newest=A).versions == ("5.5.0", A)
    assert candidates(KNOWN, [B], oldest=A, newest=B).versions == (A, B)
    assert candidates(KNOWN, oldest=OLD, newest="5.1.4").versions == (OLD, "5.1.4")


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (("4.9.6", None), r"4\.9\.6 can't run: there is no rocketmq-broker of it"),
        (("5.9.9", None), r"5\.9\.9 can't run: there is no such release"),
        (("5.5.0", "4.9.4"), r"5\.5\.0 is newer than 4\.9\.4"),
        (("5.5.0", "5.5.0"), r"needs two versions, and only 5\.5\.0 is left"),
    ],
)
def test_ends_that_can_t_be_meant(ends: tuple[str, str | None], said: str) -> None:
    with pytest.raises(UsageProblem, match=said):
        candidates(KNOWN, [], *ends)


def test_a_scenario_that_needs_more_leaves_versions_out() -> None:
    scenario = load_scenario(find("pop-same-tags"))
    found = candidates(KNOWN).for_scenario(scenario, ClusterKind.EMBEDDED)
    assert found.versions == ("5.0.0", "5.1.4", "5.5.0")
    assert list(found.left_out) == ["4.9.4", "4.9.6", "5.1.3"]
    assert "pop-same-tags" in found.left_out["4.9.4"]
