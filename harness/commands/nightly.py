"""`rocketchaos nightly`: scenarios from a seed, until the time is up."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.campaign import Campaign, Options
from harness.cluster.kinds import ClusterKind
from harness.commands.common import (
    ChosenRocketmqOption,
    JsonOption,
    JunitOption,
    OnOption,
    ParallelOption,
    RunsOption,
    require_writable,
    runs_or_default,
    version_or,
)
from harness.commands.report import ingest_and_report
from harness.commands.terminal import ERR, OUT, Progress
from harness.errors import EnvironmentNotReady, ExitCode, RocketchaosError, UsageProblem
from harness.nightly.known import read_known
from harness.nightly.memory import share_one_arena
from harness.nightly.night import SHARED_FOR_S, Night
from harness.nightly.pace import Pace, read_history
from harness.nightly.profile import Profile, read_profile
from harness.nightly.run import NightlyRun
from harness.nightly.shard import shard_of
from harness.nightly.status import StatusFile
from harness.nightly.summary import Summary, summary_of
from harness.nightly.thinning import Thinning
from harness.nightly.told import github_annotations, lines, write_junit, write_lines
from harness.reporters.parts.text import counted
from spark_reports.requirements import require_packages

MinutesOption = Annotated[
    float, typer.Option("--minutes", min=0.5, help="So long, and no longer: nothing begins that can't end.")
]
NightSeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Decides every scenario. A random one unless given, and told."),
]
ProfileOption = Annotated[
    Path | None,
    typer.Option(
        "--profile",
        metavar="FILE",
        help="YAML: `consistent: only`, weights of `dimensions` and `acts`; see harness/nightly/README.md.",
    ),
]
ShardOption = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="Only this part, where N machines share the seed: `2/5`."),
]
KnownOption = Annotated[
    Path | None,
    typer.Option(
        "--known",
        metavar="FILE",
        help="The quarantine: signatures of findings, one a line, that are looked for and told, and change no "
        "exit code.",
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URI",
        help="When the night is over, read its runs into this store, and write the reports over all of it. "
        "Only then does --keep thin.",
    ),
]
ReportsOption = Annotated[
    Path | None, typer.Option("--reports", metavar="FOLDER", help="Where those go. [default: RUNS/reports]")
]
HistoryOption = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        help="The nightly-status.json of an earlier night: how long scenarios took. Give all shards of a night "
        "the same one. [default: for this machine's own budgets that in the folder of runs]",
    ),
]
KeptOption = Annotated[
    int | None,
    typer.Option(
        "--keep",
        min=0,
        help="Of the runs that show nothing, and of those that say nothing, keep the folders of the last so many, "
        "those of earlier nights with --keep included. [default: all]",
    ),
]


def nightly(
    minutes: MinutesOption = 20.0,
    seed: NightSeedOption = None,
    profile: ProfileOption = None,
    rocketmq: ChosenRocketmqOption = None,
    on: OnOption = ClusterKind.EMBEDDED,
    shard: ShardOption = None,
    history: HistoryOption = None,
    known: KnownOption = None,
    keep: KeptOption = None,
    store: StoreOption = None,
    reports: ReportsOption = None,
    parallel: ParallelOption = None,
    runs: RunsOption = None,
    as_json: JsonOption = False,
    junit: JunitOption = None,
) -> ExitCode:
    """Draw scenarios from a seed, run them side by side, and hold each against what must always be so.

    The exit code is 1 where there is a finding that isn't known. What it found is also in the folder of runs, in
    nightly-status.json; `rocketchaos shrink RUN` makes a small scenario of a finding.
    """
    share_one_arena()
    known_ones = read_known(known)
    wanted = Profile() if profile is None else read_profile(profile)
    part = shard_of(shard)
    if part.count > 1 and seed is None:
        raise UsageProblem("shards of a night have one seed together", "Give all of them the same `--seed`.")
    folder = runs_or_default(runs)
    _require_what_comes_last(store, junit)
    status = StatusFile(folder)
    learnt = {} if history is None else read_history(history)
    with Progress() as progress:
        chosen = Options(
            version=version_or(None, rocketmq),
            on=on,
            runs=folder,
            seed=seed,
            shared_for_s=SHARED_FOR_S,
            progress=progress,
        )
        night = Night(
            seed=chosen.new_seed(),
            profile=wanted,
            minutes=minutes,
            shard=part,
            rocketmq=chosen.version,
            on=on,
            pace=Pace(learnt or status.history),
            history=learnt,
        )
        thinning = Thinning(keep, folder, status.may_be_removed)

        def told(run: NightlyRun) -> None:
            thinning.note(run)
            if store is None:
                thinning.thin()
            with suppress(EnvironmentNotReady):  # a disk that is full now may not be so at the end
                status.write(summary_of(night, known_ones), thinning.left, ended=False)
            progress(_after(run, night))

        with Campaign(replace(chosen, seed=night.seed)) as campaign:
            campaign.require_ready()
            try:
                night.play(campaign, parallel, told)
            finally:
                progress.stop()
                summary = summary_of(night, known_ones)
                _tell(summary, status, thinning, as_json=as_json, junit=junit)
    if store is None:
        return summary.exit_code
    made = reported(folder, store, reports or folder / "reports")
    thinning.thin()
    status.write(summary, thinning.left, ended=True)
    return summary.exit_code or made


def _require_what_comes_last(store: str | None, junit: Path | None) -> None:
    """What is missing for the reports, or for a file, is said now, and not when the night is over."""
    if store is not None:
        require_packages(reports=True)
    if junit is not None:
        require_writable(junit, "Choose another --junit.")


def _after(run: NightlyRun, night: Night) -> str:
    """What is shown when a run has ended."""
    found = counted(len(run.findings), "finding") if run.not_judged is None else "it says nothing"
    return f"{run.name}: {found}; {counted(len(night.runs), 'run')}, {night.left_s:.0f} s left"


def reported(runs: Path, store: str, out: Path) -> ExitCode:
    """The reports; what keeps them from being made is told, and doesn't hide what the night has found."""
    try:
        pages = ingest_and_report(runs, store, out)
    except RocketchaosError as problem:
        ERR.print(f"rocketchaos: the runs in {runs} are not in the store: {problem}", markup=False)
        return problem.exit_code
    for page in pages:
        ERR.print(f"Wrote {page}", markup=False)
    return ExitCode.AS_EXPECTED


def _tell(
    summary: Summary, status: StatusFile, thinning: Thinning, *, as_json: bool, junit: Path | None
) -> None:
    """Everywhere; files first, for what is printed may meet a pipe that nobody reads any more."""
    text = status.write(summary, thinning.left, ended=True)
    if junit is not None:
        write_junit(summary, junit)
    if as_json:
        sys.stdout.write(text)
    else:
        for line in lines(summary):
            OUT.print(line, markup=False)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        # Annotations are read from the output of a step; JSON on standard output must stay alone.
        write_lines(sys.stderr if as_json else sys.stdout, github_annotations(summary))
