"""From many comparisons to few findings: one for each way in which cells of a scenario differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from spark_reports.divergence.cells import Pair
from spark_reports.divergence.compare import Judged, Verdict
from spark_reports.divergence.read import Facts
from spark_reports.divergence.words import counted, evidence, folder, sides, what


@dataclass(frozen=True, slots=True)
class Finding:
    """A pair that differs, and the pairs that differ in the same way."""

    judged: Sequence[Judged]
    """Of one pair, the gravest first."""
    likewise: Sequence[Pair]

    @property
    def pair(self) -> Pair:
        """The pair that differs most."""
        return self.judged[0].compared.pair


def findings(judged: Iterable[Judged], verdict: Verdict) -> list[Finding]:
    """Those of the comparisons that came out so, the gravest first: what differs in the same classes, between the
    same two clients or kinds of cluster, or between any two versions, is told once."""
    chosen = sorted((one for one in judged if one.verdict is verdict), key=lambda one: one.compared.pair)
    by_pair = [list(own) for _, own in groupby(chosen, key=lambda one: one.compared.pair)]
    alike: dict[tuple[object, ...], list[list[Judged]]] = {}
    for own in by_pair:
        own.sort(key=lambda one: one.gravity)
        alike.setdefault(_way(own), []).append(own)
    found = []
    for group in alike.values():
        first, *others = sorted(group, key=lambda own: own[0].gravity)
        found.append(Finding(first, [own[0].compared.pair for own in others]))
    return sorted(found, key=lambda finding: (finding.judged[0].gravity, finding.pair))


def _way(own: Sequence[Judged]) -> tuple[object, ...]:
    pair = own[0].compared.pair
    between = pair.values if pair.dimension != "rocketmq" else ()
    kinds = frozenset((one.compared.what, one.compared.difference.point > 0) for one in own)
    return pair.first.scenario, pair.dimension, between, kinds


def sentence(finding: Finding, facts: Facts) -> str:
    """The finding in a line, with a typical run of each side."""
    gravest, *others = finding.judged
    pair = finding.pair
    told = f"{pair.first.scenario} ({pair.alike}): {sides(gravest.compared)} ({evidence(gravest)})"
    if others:
        told += f"; besides: {', '.join(_besides(one) for one in others)}"
    if finding.likewise:
        told += f"; likewise {_likewise(finding)}"
    runs = [facts.fates[cell].typical_run if cell in facts.fates else None for cell in pair[:2]]
    return f"{told}; typical runs: {folder(runs[0])}, {folder(runs[1])}"


def _besides(judged: Judged) -> str:
    compared = judged.compared
    points = [side.point * (compared.messages or 100) for side in compared.sides]
    sign = "" if compared.messages else " %"
    return f"{what(compared)} {points[0]:.3g}{sign} against {points[1]:.3g}{sign}"


def _likewise(finding: Finding) -> str:
    if finding.pair.dimension != "rocketmq" and len(finding.likewise) <= 3:
        return "with " + ", ".join(pair.alike for pair in finding.likewise)
    return f"in {counted(len(finding.likewise), 'other pair')}"
