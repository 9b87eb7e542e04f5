"""`make bench-diagnose`: planted maladies are found under their codes and nothing else, healthy groups are fine.

A malady is a scenario that is held open after its last step; its file's name begins with the code that must be
found. A healthy group is looked at again and again while its scenario runs, from a cluster of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.diagnose.checks import CHECKS
from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.gate import Gate
from rocketchaos.harness.engine.hold import Held
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.plan.job import Job
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.plan.selection import load_all
from rocketchaos.harness.rocketmq.version_range import contains
from rocketchaos.harness.scenario.model import Scenario
from tests.benchmarks.diagnose import accuracy, dashboard, mqadmin, scale

COMES_WITH = {"RC0102": {"RC0105"}, "RC0505": {"RC0210"}, "RC0506": {"RC0210"}, "RC0702": {"RC0701"}}
"""What may be true as well: a subscription lasts without a member only if its version is of the future; the only
member is stopped, so that the offset stays where it is; and before a message is a dead letter it is retried."""
HERE = Path(__file__).parent
Tool = Callable[[str, Held, Report], str]
"""What a tool says of the first group of a held run, in one line: given RocketMQ's version, the run, and the
diagnosis."""
ENDED = threading.Event()
"""Set by Ctrl-C: all lanes end."""
NOT_PLANTED = "not planted"
"""The scenario itself was inconclusive: nothing is measured."""


@dataclass(frozen=True, slots=True)
class Looked:
    """One diagnosis of one malady."""

    scenario: str
    version: str
    expected: str
    found: frozenset[str]
    """Codes of findings, and of what is undetermined where that is what is expected."""
    first_s: float
    """From the first request to the first answer."""
    last_s: float
    tools: Mapping[str, str] = field(default_factory=dict)
    """What other tools say of the same group, by tool."""

    @property
    def right(self) -> bool:
        """The expected code, and nothing else that is wrong."""
        return self.expected in self.found <= {self.expected} | COMES_WITH.get(self.expected, set())


def diagnose(name_server: str, groups: Sequence[str], proxies: Sequence[str] = ()) -> tuple[Report, Report]:
    """As the command does: the first answer, and the last one, which may be the same."""
    answers: list[Report] = []

    async def look() -> Report:
        async with Gate() as gate:
            scope = Scope(tuple(name_server.split(";")), tuple(groups), proxies=tuple(proxies))
            diagnosis = Diagnosis(gate, scope, on_early_answer=lambda report, _: answers.append(report))
            return await diagnosis.run()

    answers.append(asyncio.run(look()))
    return answers[0], answers[-1]


def maladies(
    scenarios: list[Scenario], version: str, repetitions: int, tools: Mapping[str, Tool]
) -> Iterator[Looked]:
    """Plant each, and look, until each has had so many looks, and each tool one; earlier calls included.

    Maladies that need no cluster of their own share one.
    """
    answers: list[Report] = []
    said: dict[str, str] = {}
    unasked: set[str] = set()

    def hold(held: Held) -> None:
        proxies = [held.proxy] if held.proxy else []
        answers.extend(diagnose(held.nameserver, list(held.groups.values()), proxies))
        said.update({name: tools[name](version, held, answers[-1]) for name in sorted(unasked)})

    options = Options(version=version, on=ClusterKind.EMBEDDED, timing="faithful", hold=hold, seed=1)
    with Runner(options) as runner:
        runner.interrupted = ENDED
        for number, scenario in itertools.product(range(repetitions), scenarios):
            if ENDED.is_set():
                return
            looks = accuracy.looks_at(scenario.name, version)
            unasked = tools.keys() - looks.tools.keys()
            if looks.looks > number and not unasked:
                continue
            answers.clear()
            said.clear()
            for run in runner.run_all([Job(scenario, version)], 1):
                if run.outcome.trouble is not None:
                    print(f"    trouble: {run.outcome.reason}")
            looked = _looked(scenario.name, version, answers, dict(said))
            if looked.found != {NOT_PLANTED}:
                accuracy.keep_look(
                    looked.scenario,
                    version,
                    right=looked.right,
                    found=", ".join(sorted(looked.found)) or "nothing",
                    first_s=looked.first_s,
                    last_s=looked.last_s,
                    tools=looked.tools,
                )
            print(
                f"{'right' if looked.right else 'WRONG'} {version} {looked.scenario}: "
                f"{', '.join(sorted(looked.found)) or 'nothing'} in {looked.last_s:.1f} s",
                flush=True,
            )
            yield looked


def _looked(malady: str, version: str, answers: Sequence[Report], tools: Mapping[str, str]) -> Looked:
    """What the one diagnosis of a run found; there is none where the scenario itself was inconclusive."""
    expected = malady.split("-")[0].upper()
    if not answers:
        return Looked(malady, version, expected, frozenset([NOT_PLANTED]), 0, 0)
    first, report = answers
    least = min(CHECKS[expected].level, Level.WARNING)
    found = {item.check.code for item in report.findings if item.level >= least}
    found |= {item.check.code for item in report.undetermined if item.check.code == expected}
    for finding in report.findings:
        if finding.check.code != expected:
            print("    besides:", finding.level, finding.check.code, finding.resource, finding.sentence)
    for item in report.undetermined:
        if item.check.code != expected:
            print("    undetermined:", item.check.code, item.resource, item.reason)
    return Looked(malady, version, expected, frozenset(found), first.seconds, report.seconds, tools)


def _tools(jar: str | None) -> Iterator[tuple[str, Tool]]:
    """Those that are asked about the first group."""
    yield "mqadmin", lambda version, held, _report: mqadmin.said(version, held.nameserver, _first(held))
    if jar is not None:
        yield (
            "dashboard",
            lambda _version, held, report: dashboard.said(
                Path(jar),
                held.nameserver,
                _first(held),
                list(held.topics.values()),
                [broker.address for broker in report.looks[-1].brokers.values()],
            ),
        )


def _first(held: Held) -> str:
    return next(iter(held.groups.values()))


def _loaded(folder: str, version: str) -> list[Scenario]:
    """The scenarios of a folder that are about this version."""
    return [item for item in load_all([HERE / folder]) if contains(item.rocketmq, version)]


def healthy(version: str, name_server: str, rounds: int) -> accuracy.Healthy:
    """Look at all groups of a cluster that `up` started, while healthy scenarios run there."""
    tally = accuracy.Healthy()
    end = threading.Event()

    def look_on() -> None:
        while not end.is_set():
            report = diagnose_all(name_server)
            online = [group for group in report.groups if group not in report.offline]
            tally.looks += len(online)
            # A group whose run has ended is no healthy one.
            for finding in (item for item in report.findings if item.group in ("", *online)):
                counted = tally.errors if finding.level is Level.ERROR else tally.warnings
                if finding.level >= Level.WARNING:
                    accuracy.count(counted, [finding.check.code])
                    print("    found:", finding.level, finding.check.code, finding.resource, finding.sentence)
            accuracy.count(tally.undetermined, (item.check.code for item in report.undetermined))
            for reason in dict.fromkeys(f"{item.resource}: {item.reason}" for item in report.undetermined):
                print("    undetermined:", reason)
            end.wait(0.5)

    thread = threading.Thread(target=look_on)
    thread.start()
    try:
        options = Options(version=version, on=ClusterKind.EMBEDDED, timing="faithful", seed=1)
        with Runner(options) as runner:
            jobs = [Job(item, version) for item in _loaded("healthy", version)] * rounds
            for report in runner.run_all(jobs, 2):
                print(report.scenario.name, report.outcome.kind)
    finally:
        end.set()
        thread.join()
    return tally


def diagnose_all(name_server: str) -> Report:
    """All groups."""

    async def look() -> Report:
        async with Gate() as gate:
            return await Diagnosis(gate, Scope((name_server,), None)).run()

    return asyncio.run(look())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", nargs="+", default=["4.9.4", "5.5.0"])
    parser.add_argument(
        "--repetitions",
        type=int,
        default=10,
        help="looks at each malady, earlier calls included; rounds of healthy groups, or of `--groups`",
    )
    parser.add_argument("--only", nargs="+", default=[""], help="maladies whose names have one of these")
    parser.add_argument(
        "--lanes",
        type=int,
        default=1,
        help="so many maladies side by side: faster, but each answer is slower",
    )
    parser.add_argument(
        "--dashboard",
        nargs="+",
        default=[],
        metavar="VERSION=JAR",
        help="ask RocketMQ's dashboard too: its jar by version of RocketMQ",
    )
    parser.add_argument("--without-tools", action="store_true", help="don't ask mqadmin beside it: faster")
    parser.add_argument("--healthy", metavar="NAMESRV", help="look at healthy groups on this cluster instead")
    parser.add_argument("--groups", type=int, help="measure `--all-groups` on so many live groups instead")
    parser.add_argument("--page", action="store_true", help="write what was measured so far into the page")
    return parser.parse_args()


def main() -> None:
    """Run it, and keep what was found."""
    given = _arguments()
    if given.page:
        accuracy.write_page()
        scale.write_page()
        return
    if given.groups:
        for version in given.versions:
            scale.measured(version, given.groups, given.repetitions)
        return
    if given.healthy:
        for version in given.versions:
            tally = healthy(version, given.healthy, given.repetitions)
            if not tally.looks:
                raise SystemExit(
                    f"no look saw a group of a run. Start the cluster by `rocketchaos up --rocketmq {version} "
                    "--timing faithful`."
                )
            accuracy.keep_healthy(version, tally)
            print(version, tally)
        return
    begin = time.monotonic()
    results: list[Looked] = []
    jars = dict(pair.split("=", 1) for pair in given.dashboard)
    for version in given.versions:
        scenarios = [
            item for item in _loaded("maladies", version) if any(text in item.name for text in given.only)
        ]

        tools = {} if given.without_tools else dict(_tools(jars.get(version)))

        def lane(
            number: int,
            scenarios: list[Scenario] = scenarios,
            version: str = version,
            tools: Mapping[str, Tool] = tools,
        ) -> list[Looked]:
            own = scenarios[number :: given.lanes]
            return list(maladies(own, version, given.repetitions, tools))

        with ThreadPoolExecutor(given.lanes) as pool:
            try:
                results += itertools.chain.from_iterable(pool.map(lane, range(given.lanes)))
            except KeyboardInterrupt:
                ENDED.set()
                raise
    print(
        f"\n{sum(result.right for result in results)} of {len(results)} right, {time.monotonic() - begin:.0f} s"
    )


if __name__ == "__main__":
    main()
