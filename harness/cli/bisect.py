"""`rocketchaos bisect` and `rocketchaos claims bisect`: the first version that answers differently."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.claims.plan import carriers, is_slow
from rocketchaos.harness.claims.registry import chosen
from rocketchaos.harness.claims.runs import seen
from rocketchaos.harness.claims.verdicts import Stance, stance_of
from rocketchaos.harness.cli.common_options import (
    JsonOption,
    OnOption,
    ParallelOption,
    RunsOption,
    TimingOption,
)
from rocketchaos.harness.cli.completing import claim_names, scenario_names
from rocketchaos.harness.cli.matrix_option import BUILDS_OPTION
from rocketchaos.harness.cli.output_files import runs_or_default
from rocketchaos.harness.cli.terminal import ERR, OUT, Progress, tell_left_out
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.model import OutcomeKind
from rocketchaos.harness.engine.bisecting import CODES, bisect_all, versions_at_a_time
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.builds import open_build, version_of
from rocketchaos.harness.jars.releases import releases
from rocketchaos.harness.plan.bisect import FEWEST, search
from rocketchaos.harness.plan.candidates import Candidates, candidates
from rocketchaos.harness.plan.library import find, shipped
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.plan.selection import load_all
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.bisected import Bisected, as_document, as_text, ending_of
from rocketchaos.harness.scenario import load_scenario
from rocketchaos.harness.scenario.model import Scenario

_STANCES = {Stance.FOR: "so", Stance.AGAINST: "the contrary", Stance.NOT_SEEN: "not so", Stance.SILENT: ""}

FromOption = Annotated[
    str | None,
    typer.Option("--from", metavar="VERSION|DIR", help="The oldest. Default: the oldest that can be run."),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="VERSION|DIR", help="The newest. Default: the newest that can be run."),
]
BuildsOption = Annotated[
    list[Path] | None,
    typer.Option(
        BUILDS_OPTION,
        metavar="DIR...",
        help="Builds of your own too, each after the release of its version, in this order.",
    ),
]
RepeatOption = Annotated[
    int,
    typer.Option(
        "--repeat",
        min=1,
        help="Runs of each version at first; up to five times as many if the answer stays unclear.",
    ),
]
AllOption = Annotated[
    bool, typer.Option("--all", help="Ask every version, and report each change, instead of bisecting.")
]


def bisect(
    what: Annotated[
        str,
        typer.Argument(metavar="SCENARIO", help="A scenario's name or file.", autocompletion=scenario_names),
    ],
    oldest: FromOption = None,
    newest: ToOption = None,
    builds: BuildsOption = None,
    repeat: RepeatOption = FEWEST,
    ask_all: AllOption = False,
    parallel: ParallelOption = None,
    on: OnOption = ClusterKind.EMBEDDED,
    timing: TimingOption = None,
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Find the first version of RocketMQ on which a scenario ends differently, by bisection.

    It runs all versions, also those that the scenario excludes. The exit code is 0 if one version is the
    first that ends differently, 1 if all end alike or it changes more than once, 3 if the runs don't decide.
    """
    scenario = load_scenario(find(what))
    options = Options(on=on, timing=None if timing is None else timing.value, runs=runs_or_default(runs))
    wanted = _candidates(oldest, newest, builds)
    return _bisect([scenario], wanted, options, _outcome, repeat, parallel, ask_all=ask_all, as_json=as_json)


def claims_bisect(
    claim: Annotated[
        str, typer.Argument(metavar="CLAIM", help="A claim's id, `E14`.", autocompletion=claim_names)
    ],
    oldest: FromOption = None,
    newest: ToOption = None,
    builds: BuildsOption = None,
    repeat: RepeatOption = FEWEST,
    ask_all: AllOption = False,
    parallel: ParallelOption = None,
    on: OnOption = ClusterKind.EMBEDDED,
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Find the first version of RocketMQ on which a claim's verdict changes, by bisection.

    It runs the claim's scenarios for the oldest version, only the fast ones if there are any. The exit
    code is as that of `rocketchaos bisect`.
    """
    names = chosen(claim)
    if len(names) != 1:
        raise UsageProblem(f"`{claim}` is {len(names)} claims", "Give the id of one, such as E14.")
    (name,) = names
    wanted = _candidates(oldest, newest, builds)
    speaking = carriers(load_all(sorted(shipped().values())), [name])
    asked = [carrier for carrier in speaking if carrier.lacks_on(wanted.versions[0]) is None]
    asked = [carrier for carrier in asked if not is_slow(carrier)] or asked
    if not asked:
        raise UsageProblem(
            f"no scenario is about {name} on RocketMQ {wanted.versions[0]}", "Choose another `--from`."
        )

    def stance(report: Report) -> str:
        run = seen(report)
        return "" if run.not_counted else _STANCES[stance_of(run, name)]

    options = Options(on=on, runs=runs_or_default(runs))
    return _bisect(
        asked, wanted, options, stance, repeat, parallel, ask_all=ask_all, as_json=as_json, claim=name
    )


def _candidates(oldest: str | None, newest: str | None, builds: Sequence[Path] | None) -> Candidates:
    named = [open_build(build.expanduser()).name for build in builds or ()]
    ends = [None if item is None else version_of(item) for item in (oldest, newest)]
    with Progress() as progress:
        progress("asking which releases there are")
        known, unreached = releases(progress)
    if unreached is not None:
        ERR.print(f"rocketchaos: only releases in the cache: {unreached}")
    return candidates(known, named, *ends)


def _bisect(
    scenarios: Sequence[Scenario],
    wanted: Candidates,
    options: Options,
    answer: Callable[[Report], str],
    repeat: int,
    parallel: int | None,
    *,
    ask_all: bool,
    as_json: bool,
    claim: str = "",
) -> ExitCode:
    """Ask, and tell what was found."""
    began_s = time.monotonic()
    searches = []
    for scenario in scenarios:
        freed = scenario.of_every_version()
        if freed is not scenario:
            ERR.print(f"{scenario.name} states RocketMQ {scenario.rocketmq}; the bisect asks all versions")
        own = wanted.for_scenario(freed, options.on)
        asking = search(
            own.versions,
            repeat=repeat,
            at_a_time=versions_at_a_time(),
            ask_all=ask_all,
            ends_suffice=bool(claim) and len(scenarios) > 1,
        )
        searches.append(Bisected(freed, own, asking))
    for version, reason in {v: r for item in searches for v, r in item.candidates.left_out.items()}.items():
        tell_left_out(f"RocketMQ {version}: {reason}")
    with Progress() as progress, Runner(replace(options, progress=progress)) as runner:
        bisect_all(runner, searches, answer, parallel, progress)
    seconds = time.monotonic() - began_s
    if as_json:
        OUT.print_json(as_document(searches, seconds, claim))
    else:
        OUT.print(as_text(searches, seconds, claim))
    return CODES[ending_of(searches)]


def _outcome(report: Report) -> str:
    """How a run ended; a run that an error ended says nothing."""
    return "" if report.outcome.kind is OutcomeKind.ERROR else report.outcome.kind.value
