"""`rocketchaos nightly`: scenarios from a seed, until the time is up."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
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
    runs_or_default,
    version_or,
    write_text,
)
from harness.commands.report import ingest_and_report
from harness.commands.terminal import ERR, OUT, Progress
from harness.errors import ExitCode, RocketchaosError
from harness.nightly.duration import Pace
from harness.nightly.known import read_known
from harness.nightly.night import SHARED_FOR_S, Night
from harness.nightly.profile import Profile, read_profile
from harness.nightly.run import NightlyRun
from harness.nightly.shard import shard_of
from harness.nightly.summary import Summary, pace_of, summary_of
from harness.nightly.thinning import Thinning
from harness.nightly.told import github_annotations, lines, write_junit, write_lines
from harness.reporters.parts.text import counted
from spark_reports.requirements import require_packages

STATUS_FILE = "nightly-status.json"

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
        help="Signatures of findings, one a line, that are told and change no exit code.",
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
KeptOption = Annotated[
    int | None,
    typer.Option(
        "--keep",
        min=0,
        help="Of the runs that show nothing keep the folders of the last so many. [default: all]",
    ),
]


def nightly(
    minutes: MinutesOption = 20.0,
    seed: NightSeedOption = None,
    profile: ProfileOption = None,
    rocketmq: ChosenRocketmqOption = None,
    on: OnOption = ClusterKind.EMBEDDED,
    shard: ShardOption = None,
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
    known_ones = read_known(known)
    wanted = Profile() if profile is None else read_profile(profile)
    folder = runs_or_default(runs)
    if store is not None:
        # What is missing for the reports is said now, and not when the night is over.
        require_packages(reports=True)
    with Progress() as progress:
        chosen = Options(
            version=version_or(None, rocketmq),
            on=on,
            runs=folder,
            seed=seed,
            shared_for_s=SHARED_FOR_S,
            progress=progress,
        )
        before = pace_of(folder / STATUS_FILE)
        night = Night(
            chosen.new_seed(), wanted, minutes, shard_of(shard), chosen.version, on, pace=Pace(before)
        )
        options = replace(chosen, seed=night.seed)

        thinning = Thinning(keep)

        def told(run: NightlyRun) -> None:
            thinning.note(run)
            if store is None:
                thinning.thin()
            found = counted(len(run.findings), "finding") if run.not_judged is None else "it says nothing"
            left = f"{counted(len(night.runs), 'run')}, {night.left_s:.0f} s left"
            progress(f"{run.name}: {found}; {left}")

        try:
            with Campaign(options) as campaign:
                night.play(campaign, parallel, told)
        finally:
            progress.stop()
            summary = summary_of(night, known_ones)
            _tell(summary, folder, as_json=as_json, junit=junit)
    codes = [summary.exit_code]
    if store is not None:
        codes.append(reported(folder, store, reports or folder / "reports"))
        thinning.thin()
    return ExitCode.gravest(codes)


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


def _tell(summary: Summary, folder: Path, *, as_json: bool, junit: Path | None) -> None:
    document = {"ended": datetime.now(UTC).isoformat(timespec="seconds"), **summary.as_json()}
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if as_json:
        sys.stdout.write(text + "\n")
    else:
        for line in lines(summary):
            OUT.print(line, markup=False)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        # Annotations are read from the output of a step; JSON on standard output must stay alone.
        write_lines(sys.stderr if as_json else sys.stdout, github_annotations(summary))
    if junit is not None:
        write_junit(summary, junit)
    write_text(folder / STATUS_FILE, text + "\n", "Choose another place with --runs.")
