"""Which versions a bisect asks, the oldest first, and which it can't. Pure; `releases` and `builds` know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.jars.releases import Release
from rocketchaos.harness.plan.feasibility import lacks
from rocketchaos.harness.rocketmq import versions
from rocketchaos.harness.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class Candidates:
    """Versions by name, releases and builds."""

    versions: tuple[str, ...]
    """At least two."""
    left_out: Mapping[str, str]
    """Those between that can't be asked, each with the reason; in order."""

    def for_scenario(self, scenario: Scenario, kind: ClusterKind) -> Candidates:
        """Without those on which the scenario can't run.

        Raises:
            UsageProblem: fewer than two are left.
        """
        lacking = {
            version: reason
            for version in self.versions
            if (reason := lacks(scenario, version, kind)) is not None
        }
        able = [version for version in self.versions if version not in lacking]
        reasons = {item: f"{scenario.name} {reason}" for item, reason in lacking.items()}
        left_out = {**self.left_out, **reasons}
        return _candidates(able, {item: left_out[item] for item in self.ordered(left_out)})

    @staticmethod
    def ordered(names: Iterable[str]) -> list[str]:
        """The oldest first; those of one version stay in this order."""
        return sorted(names, key=versions.parse)

    def between(self, before: str, first: str) -> list[str]:
        """What was left out between two of the versions; a release stands before the builds of its version."""
        oldest, newest = versions.parse(before), versions.parse(first)
        return [
            item
            for item in self.left_out
            if oldest < versions.parse(item) < newest
            or (oldest < versions.parse(item) == newest and versions.is_build(first))
        ]


def candidates(
    known: Sequence[Release], builds: Iterable[str] = (), oldest: str | None = None, newest: str | None = None
) -> Candidates:
    """The releases from one version to another, and builds, each behind the release of its version.

    Args:
        known: every release that there is, also in part.
        builds: by name; those of one version stay in this order.
        oldest: a release or the name of a build; None: the oldest that can be run.
        newest: likewise the newest.

    Raises:
        UsageProblem: an end can't be run, the ends are the wrong way round, or fewer than two versions are left.
    """
    for end in (oldest, newest):
        if end is not None and not versions.is_build(end):
            _require_runnable(end, known)
    first = versions.parse(oldest) if oldest else (0, 0, 0)
    last = versions.parse(newest) if newest else (99, 0, 0)
    if first > last:
        raise UsageProblem(f"{oldest} is newer than {newest}", "Give the older one as `--from`.")
    within = [release for release in known if first <= versions.parse(release.version) <= last]
    if oldest is not None and versions.is_build(oldest):
        within = [release for release in within if versions.parse(release.version) > first]
    ends = [end for end in (oldest, newest) if end is not None and versions.is_build(end)]
    own = sorted(dict.fromkeys([*ends[:1], *builds, *ends[1:]]), key=versions.parse)
    releases = [release.version for release in within if not release.lacks]
    # Sorting is stable: a release comes before the builds of its version.
    found = sorted([*releases, *own], key=versions.parse)
    return _candidates(found, {release.version: _reason(release) for release in within if release.lacks})


def _candidates(found: Sequence[str], left_out: Mapping[str, str]) -> Candidates:
    if len(found) < 2:
        what = f"only {found[0]} is" if found else "none is"
        text = "".join(f"\n  left out: {item}: {reason}" for item, reason in left_out.items())
        raise UsageProblem(
            f"a bisect needs two versions, and {what} left{text}",
            "Choose them with `--from`, `--to` and `--builds`; `rocketchaos versions` lists the releases.",
        )
    return Candidates(tuple(found), left_out)


def _require_runnable(end: str, known: Sequence[Release]) -> None:
    own = next((release for release in known if release.version == end), None)
    if own is not None and not own.lacks:
        return
    reason = _reason(own) if own else "there is no such release"
    near = versions.nearest(end, [release.version for release in known if not release.lacks])
    raise UsageProblem(f"RocketMQ {end} can't run: {reason}", f"The nearest versions: {', '.join(near)}.")


def _reason(release: Release) -> str:
    return f"there is no {', '.join(release.lacks)} of it"
