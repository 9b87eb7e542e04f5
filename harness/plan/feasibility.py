"""Whether a scenario can run as the user wants it; asked before anything starts."""

from rocketchaos.harness.cluster.cluster_kinds import CAN_NOT, ClusterKind
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.rocketmq import versions
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS, ClientChoice
from rocketchaos.harness.rocketmq.version_range import contains
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.version_needs import place_of_lack


def why_not(scenario: Scenario, version: str, kind: ClusterKind) -> str | None:
    """Why it can't run with this version of RocketMQ on this kind of cluster, with its name; None if it can."""
    reason = lacks(scenario, version, kind)
    return None if reason is None else f"{scenario.name} {reason}"


def lacks(scenario: Scenario, version: str, kind: ClusterKind) -> str | None:
    """The same without its name: several scenarios may share it."""
    reason = scenario.lacks_on(version)
    if reason is None and (no_build := why_no_build(version, kind)):
        reason = f"can't run: {no_build}"
    missing = _missing(scenario, kind)
    if reason is None and missing:
        able = [other for other in ClusterKind if not _missing(scenario, other)]
        ways = " or ".join(f"`--on {other}`" for other in able) or "no kind of cluster"
        reason = f"needs something that a cluster of kind {kind} can't do: {', '.join(missing)}; {ways} can"
    return reason


_RELEASES = (
    *("4.9.0", "4.9.1", "4.9.2", "4.9.3", "4.9.4", "4.9.5", "4.9.6", "4.9.7", "4.9.8", "5.0.0"),
    *("5.1.0", "5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.2.0", "5.3.0", "5.3.1", "5.3.2", "5.3.3"),
    *("5.4.0", "5.5.0"),
)
"""The releases up to 5.5.0, by which a range is tried. `rocketchaos versions` shows which are available."""


def why_on_no_version(scenario: Scenario) -> tuple[str, tuple[str, ...]] | None:
    """Why no release in the scenario's range can run it, whatever client stands in for those that it doesn't name.

    The reason is that of the newest release, with the place in the file that it is about. None if a release can,
    or if the range has none of these releases.
    """
    about = [version for version in reversed(_RELEASES) if contains(scenario.rocketmq, version)]
    if not about or any(scenario.lacks_on(version) is None for version in about):
        return None
    others = () if scenario.names_its_clients else CLIENT_KINDS.values()
    for given in (scenario.with_client(ClientChoice(kind)) for kind in others if kind.program is None):
        if any(given.lacks_on(version) is None for version in about):
            return None
    newest = about[0]
    reason = f"no version in its range can run it: with RocketMQ {newest} it {scenario.lacks_on(newest)}"
    return reason, place_of_lack(scenario, newest)


def why_nowhere(scenario: Scenario) -> str | None:
    """Why no kind of cluster can run it, whatever the version; None if one can."""
    missing = {kind: _missing(scenario, kind) for kind in ClusterKind}
    if not all(missing.values()):
        return None
    lacks = "; ".join(f"{kind} lacks {', '.join(names)}" for kind, names in missing.items())
    return f"no kind of cluster has everything that it needs ({lacks})"


def _missing(scenario: Scenario, kind: ClusterKind) -> list[str]:
    """The abilities that it needs and this kind of cluster lacks."""
    return sorted(scenario.required_capabilities & CAN_NOT[kind])


def why_no_build(version: str, kind: ClusterKind) -> str | None:
    """Why this kind of cluster can't have a build of one's own; None if it can, or it is a release."""
    if kind is ClusterKind.EMBEDDED or not versions.is_build(version):
        return None
    return f"RocketMQ {version} is a build of your own, and these have no images: leave out `--on {kind}`"


def require_can_have(version: str, kind: ClusterKind) -> None:
    """Make sure that a cluster of this kind can be of this version.

    Raises:
        UsageProblem: it can't.
    """
    reason = why_no_build(version, kind)
    if reason is not None:
        raise UsageProblem(reason)
