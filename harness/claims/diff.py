"""Which verdicts differ between two sets of runs. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from rocketchaos.harness.claims.verdicts import Tendency, Verdict, VerdictKind, share_text

Verdicts = Mapping[tuple[str, str], Verdict]


@dataclass(frozen=True, slots=True)
class Change:
    """A verdict that is another one than before."""

    before: Verdict
    after: Verdict
    why: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The results of two sets of runs, compared with each other."""

    changes: tuple[Change, ...]
    same: int
    """The number of verdicts that are as they were."""
    not_compared: tuple[str, ...]
    """Claims, with the version, of which only one of the sets has runs: `A01 (4.9.4)`."""


def differences(old: Verdicts, new: Verdicts) -> Difference:
    """Hold the verdicts of two sets against each other, version by version.

    Where they have no version in common, the newest of each are compared: so a new release is compared with the
    last one.
    """
    pairs = _versions(old, new)
    changes: list[Change] = []
    same, alone = 0, []
    for before_version, after_version in pairs:
        names = sorted(
            {claim for claim, version in old if version == before_version}
            | {claim for claim, version in new if version == after_version}
        )
        for claim in names:
            before, after = old.get((claim, before_version)), new.get((claim, after_version))
            if before is None or after is None:
                alone.append(f"{claim} ({before_version if after is None else after_version})")
                continue
            why = _why_changed(before, after)
            if why:
                changes.append(Change(before, after, why))
            else:
                same += 1
    return Difference(tuple(changes), same, tuple(alone))


def _versions(old: Verdicts, new: Verdicts) -> Sequence[tuple[str, str]]:
    first, second = {version for _, version in old}, {version for _, version in new}
    if first and second and not first & second:
        return [(max(first, key=Version), max(second, key=Version))]
    return [(version, version) for version in sorted(first | second, key=Version)]


def _why_changed(before: Verdict, after: Verdict) -> str:
    if before.kind is not after.kind:
        return after.reason
    if before.kind is VerdictKind.DISTRIBUTION:
        return "; ".join(_apart(before.shares, after.shares))
    return ""


def _apart(before: Sequence[Tendency], after: Sequence[Tendency]) -> Iterator[str]:
    """The shares whose intervals have nothing in common."""
    by_id = {(item.scenario, item.id): item for item in before}
    # Evidence from before checks had ids has titles in their place.
    by_title = {(item.scenario, item.check): item for item in before}
    for tendency in after:
        other = by_id.get((tendency.scenario, tendency.id))
        if other is None:
            alike = by_title.get((tendency.scenario, tendency.check))
            other = alike if alike is not None and tendency.check in (tendency.id, alike.id) else None
        if other is not None and (
            tendency.interval[0] > other.interval[1] or tendency.interval[1] < other.interval[0]
        ):
            yield f"{share_text(tendency)}; before {other.held} of {other.total}"
