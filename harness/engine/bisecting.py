"""Asks versions for a bisect: runs the scenario on each, several searches in parallel."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.machine_load import usable_cores
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.bisect import Ask, Ending
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.bisected import Bisected

CORES_FOR_ONE = 2
"""The cores that a version keeps busy while its cluster starts. With more cores several versions are asked at a
time."""
CODES: Mapping[Ending, ExitCode] = {
    Ending.FOUND: ExitCode.AS_EXPECTED,
    Ending.ALIKE: ExitCode.NOT_AS_EXPECTED,
    Ending.SEVERAL: ExitCode.NOT_AS_EXPECTED,
    Ending.UNDECIDED: ExitCode.INCONCLUSIVE,
}
"""The exit code of a bisect by what it found."""


def versions_at_a_time() -> int:
    """The number of versions between the ends that this machine asks in parallel."""
    return max(1, usable_cores() // CORES_FOR_ONE)


def bisect_all(
    runner: Runner,
    searches: Sequence[Bisected],
    answer: Callable[[Report], str],
    parallel: int | None,
    say: Callable[[str], None],
) -> None:
    """Let the searches ask, round by round, until each has its history.

    Args:
        runner: runs what they ask for. searches: not started yet. answer: what a run answers; empty: nothing.
        parallel: runs at a time, as `Runner.run_all`. say: called with each question.
    """
    asks: dict[int, Ask] = {number: next(search.search) for number, search in enumerate(searches)}
    while asks:
        jobs = [
            (number, Job(searches[number].scenario, version))
            for number, ask in asks.items()
            for version, times in ask
            for _ in range(times)
        ]
        say(f"asking RocketMQ {', '.join(dict.fromkeys(job.rocketmq for _, job in jobs))}")
        answers: dict[int, dict[str, Counter[str]]] = {number: {} for number in asks}
        reports = runner.run_all([job for _, job in jobs], parallel)
        for (number, job), report in zip(jobs, reports, strict=True):
            searches[number].reports.setdefault(job.rocketmq, []).append(report)
            if word := answer(report):
                answers[number].setdefault(job.rocketmq, Counter())[word] += 1
        asks = {}
        for number, found in answers.items():
            try:
                asks[number] = searches[number].search.send(found)
            except StopIteration as end:
                searches[number].history = end.value
