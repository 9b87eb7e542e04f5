"""Whether a scenario can run as the user wants it; asked before anything starts."""

from __future__ import annotations

from harness.cluster.base import lacking
from harness.cluster.kinds import ClusterKind, cluster_class
from harness.scenario import Scenario


def why_not(scenario: Scenario, version: str, kind: ClusterKind) -> str | None:
    """Why it can't run with this version of RocketMQ on this kind of cluster; None where it can."""
    reason = scenario.why_not_on(version)
    missing = lacking(cluster_class(kind), scenario.required_capabilities)
    if reason is None and missing:
        able = [
            other
            for other in ClusterKind
            if not lacking(cluster_class(other), scenario.required_capabilities)
        ]
        ways = " or ".join(f"`--on {other}`" for other in able) or "no kind of cluster"
        reason = (
            f"{scenario.name} needs what a cluster of kind {kind} can't do: {', '.join(missing)}; {ways} can"
        )
    return reason


def why_nowhere(scenario: Scenario) -> str | None:
    """Why no kind of cluster can run it, whatever the version; None where one can."""
    missing = {kind: lacking(cluster_class(kind), scenario.required_capabilities) for kind in ClusterKind}
    if not all(missing.values()):
        return None
    lacks = "; ".join(f"{kind} lacks {', '.join(names)}" for kind, names in missing.items())
    return f"it can run nowhere: what it needs no kind of cluster has together ({lacks})"
