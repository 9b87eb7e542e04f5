"""Some of the fast claims on 4.9.4, side by side on one cluster: a changed verdict fails. Nightly: more."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.claims.expected_verdicts import read_expected, unexpected
from rocketchaos.harness.claims.plan import Speed, carriers, fewest, planned, spoken_of
from rocketchaos.harness.claims.registry import claims
from rocketchaos.harness.claims.rounds import run_rounds
from rocketchaos.harness.claims.verdicts import VerdictKind, verdicts
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.language.cluster_needs import ClusterNeeds
from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.plan.selection import load_all

pytestmark = [pytest.mark.embedded, pytest.mark.extended]
VERSION = "4.9.4"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("every", [60, pytest.param(3, marks=pytest.mark.nightly)])
@pytest.mark.usefixtures("on_shared_cluster")
def test_every_nth_of_the_fast_claims_has_the_expected_verdict(every: int, tmp_path: Path) -> None:
    shared = [
        carrier
        for carrier in carriers(load_all(sorted(shipped().values())), claims(), Speed.FAST)
        if carrier.why_not_on(VERSION) is None
        and not carrier.needs_own_cluster
        and carrier.cluster_needs.shape == ClusterNeeds().shape
        and carrier.workers == "host"
        and carrier.repetition.at_most == 1
    ]
    some = sorted({claim for carrier in shared for claim in spoken_of(carrier)})[::every]
    plan = planned(fewest(shared, some), [VERSION], ClusterKind.EMBEDDED)
    with Runner(Options(version=VERSION, runs=tmp_path)) as runner:
        runs = list(run_rounds(runner, plan.jobs, None, print))
    found = verdicts(runs)
    assert {run.run: run.not_counted for run in runs if run.not_counted} == {}
    assert unexpected(found.values(), read_expected()) == []
    measured = {claim for (claim, _), verdict in found.items() if verdict.kind is not VerdictKind.UNMEASURED}
    assert set(some) <= measured
    assert {claim for claim in some if (claim, VERSION) not in read_expected()} == set()
