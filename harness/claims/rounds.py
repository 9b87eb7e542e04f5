"""Runs for claims, round after round, until every share is known well enough."""

from collections.abc import Callable, Iterator, Sequence

from rocketchaos.harness.claims.evidence import RunSeen
from rocketchaos.harness.claims.runs import seen
from rocketchaos.harness.claims.verdicts import tendencies
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.job import Job

AT_A_TIME = 10
"""How many more runs there are of what isn't known well enough, before it is asked again."""


def run_rounds(
    runner: Runner, jobs: Sequence[Job], parallel: int | None, progress: Callable[[str], None]
) -> Iterator[RunSeen]:
    """Run every job as often as its scenario says, and yield what is kept of each run.

    A job that yields nothing countable in a whole round is not repeated; only a run that an error ended is
    tried once more, because it says nothing about the claim.
    """
    found: dict[tuple[str, str], list[RunSeen]] = {_key(job): [] for job in jobs}
    left, number = list(jobs), 1
    while left:
        copies = [job for job in left for _ in range(_next(job, len(found[_key(job)])))]
        before = {key: len(own) for key, own in found.items()}
        for done, report in enumerate(runner.run_all(copies, parallel), 1):
            progress(f"round {number}: {done} of {len(copies)} runs done")
            run = seen(report)
            found[_key(copies[done - 1])].append(run)
            yield run
        left = [job for job in left if _goes_on(job, found[_key(job)], before[_key(job)])]
        number += 1


def _goes_on(job: Job, runs: Sequence[RunSeen], before: int) -> bool:
    """Whether a job has another round, after one that began with this many runs."""
    if _counting(runs[before:]):
        return not is_enough(job, runs)
    return before == 0 and all(run.outcome is OutcomeKind.ERROR for run in runs)


def is_enough(job: Job, runs: Sequence[RunSeen]) -> bool:
    """Whether these runs of a job are as many as its scenario asks for."""
    shares = [(tendency.held, tendency.total) for tendency in tendencies(None, _counting(runs))]
    return job.scenario.repetition.is_enough(len(runs), shares)


def _next(job: Job, done: int) -> int:
    """How many runs of it the next round has."""
    own = job.scenario.repetition
    return own.at_least if not done else max(1, min(AT_A_TIME, own.at_most - done))


def _counting(runs: Sequence[RunSeen]) -> list[RunSeen]:
    return [run for run in runs if not run.not_counted]


def _key(job: Job) -> tuple[str, str]:
    return job.scenario.name, job.rocketmq
