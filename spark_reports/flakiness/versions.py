"""Runs that went wrong after a change of version: of RocketMQ, of the client, of the harness."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from scipy.stats import fisher_exact

from rocketchaos.spark_reports.flakiness.read import VersionRuns
from rocketchaos.spark_reports.statistics.multiple import holm

WORDS = {"rocketmq": "RocketMQ", "client": "client", "harness": "rocketchaos"}


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A version that came after another in the same experiment, and has a run that did not end as expected."""

    before: VersionRuns
    after: VersionRuns
    p: float
    """The p of fewer ends as expected than before (R. A. Fisher's exact test, one-sided), adjusted by Holm."""

    @property
    def side_by_side(self) -> bool:
        """Whether the version before was still run: in a matrix, versions don't follow each other."""
        return self.before.last_started > self.after.first_started

    @property
    def experiment(self) -> str:
        """The fields that are the same before and after."""
        item = self.after
        parts = (item.scenario, item.client, item.rocketmq, item.cluster, item.timing)
        return " ".join(part for part in parts if part)

    @property
    def change(self) -> str:
        """In words: `RocketMQ 5.3.3 -> 5.5.0`."""
        return f"{WORDS[self.after.kind]} {self.before.version} → {self.after.version}"


def version_changes(versions: Sequence[VersionRuns]) -> list[VersionChange]:
    """All changes after which a run went wrong; the surest loss first.

    Args:
        versions: by experiment, and within it in the order in which they came, as `flakiness_versions` sorts them.
    """
    pairs = [pair for _, group in groupby(versions, key=_experiment) for pair in pairwise(group)]
    adjusted = holm([_p(before, after) for before, after in pairs])
    changes = [
        VersionChange(before, after, p)
        for (before, after), p in zip(pairs, adjusted, strict=True)
        if after.miss_run is not None
    ]
    return sorted(changes, key=lambda change: (change.p, change.experiment, change.change))


def _experiment(version_runs: VersionRuns) -> tuple[str | None, ...]:
    return (
        version_runs.kind,
        version_runs.scenario,
        version_runs.client,
        version_runs.rocketmq,
        version_runs.cluster,
        version_runs.timing,
    )


def _p(before: VersionRuns, after: VersionRuns) -> float:
    table = [[after.hits, after.runs - after.hits], [before.hits, before.runs - before.hits]]
    return float(fisher_exact(table, alternative="less")[1])
