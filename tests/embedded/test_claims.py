"""A representative third of the fast claims on 4.9.4, side by side on one cluster: a changed verdict fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.claims.expected_verdicts import read_expected, unexpected
from rocketchaos.harness.claims.plan import Speed, carriers, fewest, planned, spoken_of
from rocketchaos.harness.claims.registry import claims
from rocketchaos.harness.claims.rounds import run_rounds
from rocketchaos.harness.claims.verdicts import VerdictKind, verdicts
from rocketchaos.harness.cluster.kinds import ClusterKind
from rocketchaos.harness.engine.campaign import Campaign
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.plan.selection import load_all

pytestmark = pytest.mark.embedded
VERSION = "4.9.4"


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("on_shared_cluster")
def test_a_third_of_the_fast_claims_has_the_expected_verdicts(tmp_path: Path) -> None:
    shared = [
        one
        for one in carriers(load_all(sorted(shipped().values())), claims(), Speed.FAST)
        if one.why_not_on(VERSION) is None
        and not one.needs_own_cluster
        and one.cluster_needs.shape == ClusterNeeds().shape
        and one.workers == "host"
        and one.repetition.at_most == 1
    ]
    third = sorted({claim for one in shared for claim in spoken_of(one)})[::3]
    plan = planned(fewest(shared, third), [VERSION], ClusterKind.EMBEDDED)
    with Campaign(Options(version=VERSION, runs=tmp_path)) as campaign:
        runs = list(run_rounds(campaign, plan.jobs, None, print))
    found = verdicts(runs)
    assert {run.run: run.not_counted for run in runs if run.not_counted} == {}
    assert unexpected(found.values(), read_expected()) == []
    measured = {claim for (claim, _), one in found.items() if one.kind is not VerdictKind.UNMEASURED}
    assert set(third) <= measured
    assert {claim for claim in third if (claim, VERSION) not in read_expected()} == set()
