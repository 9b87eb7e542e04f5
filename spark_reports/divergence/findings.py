"""Group many comparisons into few findings: one for each way in which cells of a scenario differ."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rocketchaos.harness.core.text import counted
from rocketchaos.spark_reports.divergence.cells import BROKER, Pair
from rocketchaos.spark_reports.divergence.compare import Judged, Verdict
from rocketchaos.spark_reports.divergence.read import Facts
from rocketchaos.spark_reports.divergence.words import also, evidence, runs, sides
from rocketchaos.spark_reports.run_names import named_run


@dataclass(frozen=True, slots=True)
class Finding:
    """A pair that differs, and the pairs that differ in the same way."""

    judged: Sequence[Judged]
    """The comparisons of one pair: by messages first, and of these the worst first."""
    likewise: Sequence[Pair]

    @property
    def pair(self) -> Pair:
        """The pair that differs most."""
        return self.judged[0].compared.pair


def findings(judged: Iterable[Judged], verdict: Verdict) -> list[Finding]:
    """The comparisons with this verdict, the worst first. Pairs that differ in the same classes, between the same
    two clients or kinds of cluster, or between any two versions, are one finding."""
    chosen = sorted(
        (item for item in judged if item.verdict is verdict and item.differs),
        key=lambda item: item.compared.pair,
    )
    by_pair = [list(own) for _, own in groupby(chosen, key=lambda item: item.compared.pair)]
    alike: dict[tuple[object, ...], list[list[Judged]]] = {}
    for own in by_pair:
        own.sort(key=lambda item: (not item.of_messages, item.gravity))
        alike.setdefault(_way(own), []).append(own)
    found = []
    for group in alike.values():
        first, *others = sorted(group, key=_gravity)
        found.append(Finding(first, [own[0].compared.pair for own in others]))
    return sorted(found, key=lambda finding: (_gravity(finding.judged), finding.pair))


def _gravity(own: Sequence[Judged]) -> tuple[bool, bool, float, float]:
    return min(judged.gravity for judged in own)


def _way(own: Sequence[Judged]) -> tuple[object, ...]:
    pair = own[0].compared.pair
    between = () if pair.dimension in ("rocketmq", BROKER) else pair.values
    kinds = frozenset((judged.compared.what, judged.compared.difference.point > 0) for judged in own)
    return pair.first.scenario, pair.dimension, between, kinds


def sentence(finding: Finding, facts: Facts) -> str:
    """The finding in a line: first the side with more messages, and a typical run of each side."""
    turn = finding.judged[0].compared.difference.point < 0
    worst, *others = (
        replace(item, compared=item.compared.turned()) if turn else item for item in finding.judged
    )
    compared = worst.compared
    proof = evidence(worst) if worst.verdict is Verdict.DIVERGES else runs(compared)
    if worst.verdict is Verdict.EXACT:
        proof += (
            "; exact in these runs, which are too few for a claim about all runs: "
            f"{worst.settling_runs:,} of each, all like these, would settle it"
        )
    elif worst.verdict is Verdict.TOO_FEW:
        proof += f"; at least {worst.settling_runs:,} of each would settle it"
    text = f"{compared.pair.first.scenario} ({compared.pair.alike}): {sides(compared)} ({proof})"
    if others:
        text += f"; also: {', '.join(also(item.compared) for item in others)}"
    if finding.likewise:
        text += f"; the same {_likewise(finding)}"
    typical = [facts.fates[cell].typical_run if cell in facts.fates else None for cell in compared.pair[:2]]
    return f"{text}; typical runs: {named_run(typical[0])}, {named_run(typical[1])}"


def _likewise(finding: Finding) -> str:
    if finding.pair.dimension not in ("rocketmq", BROKER) and len(finding.likewise) <= 3:
        return "with " + ", ".join(pair.alike for pair in finding.likewise)
    return f"in {counted(len(finding.likewise), 'other pair')}"
