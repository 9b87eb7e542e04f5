"""What is run for claims: the scenarios that carry or refute them, and why some claim has none."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from rocketchaos.harness.claims.registry import claims
from rocketchaos.harness.claims.verdicts import VerdictKind
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.model import SECTION_OF
from rocketchaos.harness.language.expectation import MEASURED, expected_words
from rocketchaos.harness.plan.feasibility import lacks
from rocketchaos.harness.plan.matrix import Cell, Plan, plan
from rocketchaos.harness.rocketmq.version_range import why_not_in
from rocketchaos.harness.scenario.model import Scenario

SLOW = frozenset({"slow", "minutes"})
"""The marks of what RocketMQ's own timers, or many repeats, make long."""


class Speed(StrEnum):
    """Which scenarios."""

    ALL = "all"
    FAST = "fast"
    SLOW = "slow"


def is_slow(scenario: Scenario) -> bool:
    """Whether it is marked as slow, or waits for RocketMQ's own timers, which need other clusters."""
    return bool(SLOW & set(scenario.marks)) or scenario.timing == "faithful"


def spoken_of(scenario: Scenario) -> frozenset[str]:
    """The claims that its checks carry or refute, where they are meant to hold somewhere.

    A control has the checks of its anomaly, claims included, and they don't hold there.
    """
    meant = {SECTION_OF[kind] for kind in scenario.expected_kinds}
    if MEASURED in expected_words(scenario.expected):
        meant.update(SECTION_OF.values())
    return frozenset(
        name
        for section, _, item in scenario.checks()
        for name in (item.claim, item.refutes)
        if name and (section in meant or section not in SECTION_OF.values())
    )


def by_claim(scenarios: Iterable[Scenario]) -> Mapping[str, Sequence[Scenario]]:
    """The scenarios that speak of each claim, in order."""
    found: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        for name in spoken_of(scenario):
            found.setdefault(name, []).append(scenario)
    return found


def carriers(
    scenarios: Iterable[Scenario], wanted: Iterable[str], speed: Speed = Speed.ALL
) -> list[Scenario]:
    """The scenarios that speak of any of these claims, in order.

    Raises:
        UsageProblem: there is none.
    """
    names = frozenset(wanted)
    speaking = [scenario for scenario in scenarios if names & spoken_of(scenario)]
    found = [
        scenario for scenario in speaking if speed is Speed.ALL or is_slow(scenario) is (speed is Speed.SLOW)
    ]
    if not found:
        some = ", ".join(sorted(names)[:6]) + (", …" if len(names) > 6 else "")
        what = f"no {speed} scenario" if speaking else "no scenario yet"
        raise UsageProblem(f"{what} is about {some}", "`rocketchaos explain A01` lists its scenarios.")
    return found


def planned(scenarios: Sequence[Scenario], versions: Sequence[str], kind: ClusterKind) -> Plan:
    """The runs, version by version, so that few clusters are up at a time.

    Raises:
        UsageProblem: there is no such version, or nothing can run.
    """
    cells = [Cell(None, version) for version in versions]
    found = plan(scenarios, cells, kind)
    return Plan(tuple(sorted(found.jobs, key=lambda job: versions.index(job.rocketmq))), found.left_out)


def fewest(scenarios: Sequence[Scenario], wanted: Iterable[str]) -> list[Scenario]:
    """A small set of scenarios that covers all these claims: greedily, the largest cover first."""
    left, found = set(wanted), []
    while left:
        best = max(
            scenarios, key=lambda scenario: (len(left & spoken_of(scenario)), scenario.name), default=None
        )
        if best is None or not left & spoken_of(best):
            break
        found.append(best)
        left -= spoken_of(best)
    return found


def why_no_run(
    claim: str, version: str, scenarios: Mapping[str, Sequence[Scenario]]
) -> tuple[VerdictKind, str]:
    """Why there may be no run of a version that says anything of a claim, and what that is called.

    `scenarios` are those that speak of each claim, see `by_claim`.
    """
    known = claims().get(claim)
    if known is not None and known.unobservable:
        return VerdictKind.NOT_APPLICABLE, f"nothing public can observe it: {known.unobservable}"
    of_others = None if known is None else why_not_in(known.about, version)
    if of_others is not None:
        return VerdictKind.NOT_APPLICABLE, f"it {of_others}"
    speaking = scenarios.get(claim, ())
    if not speaking:
        return VerdictKind.UNMEASURED, "no scenario measures it yet"
    reasons = {scenario.name: lacks(scenario, version, ClusterKind.EMBEDDED) for scenario in speaking}
    if not all(reasons.values()):
        missing = ", ".join(name for name, reason in reasons.items() if reason is None)
        return VerdictKind.UNMEASURED, f"there is no run of {missing}"
    # Without the names: several scenarios of a claim have the same reason mostly.
    reasons_given = dict.fromkeys(map(str, reasons.values()))
    return VerdictKind.UNMEASURED, f"its scenario {'; '.join(reasons_given)}"
