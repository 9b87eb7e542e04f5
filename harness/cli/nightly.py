"""`rocketchaos nightly`: scenarios from a seed, until the time is up."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.cli.common import LEAST_MINUTES, MOST_MINUTES, chosen_version
from rocketchaos.harness.cli.common_options import (
    ChosenRocketmqOption,
    JsonOption,
    JunitOption,
    OnOption,
    ParallelOption,
    RunsOption,
)
from rocketchaos.harness.cli.night_account import NightAccount
from rocketchaos.harness.cli.output_files import require_writable, runs_or_default
from rocketchaos.harness.cli.terminal import ERR, Progress
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.nightly.generator import require_operations
from rocketchaos.harness.nightly.known import doubts, read_known
from rocketchaos.harness.nightly.memory import share_one_arena
from rocketchaos.harness.nightly.night import SHARED_FOR_S, Night
from rocketchaos.harness.nightly.nightly_run import NightlyRun
from rocketchaos.harness.nightly.pace import Pace, read_history
from rocketchaos.harness.nightly.profile import Profile, read_profile
from rocketchaos.harness.nightly.shard import Shard, shard_of
from rocketchaos.harness.nightly.status import StatusFile
from rocketchaos.harness.nightly.thinning import Thinning
from rocketchaos.harness.plan.options import Options
from rocketchaos.spark_reports.requirements import require_packages

MinutesOption = Annotated[
    float,
    typer.Option(
        "--minutes",
        min=LEAST_MINUTES,
        max=MOST_MINUTES,
        help="The time limit. The night starts no run that can't end within it.",
    ),
]
NightSeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Determines every scenario. Default: random, and printed."),
]
ProfileOption = Annotated[
    Path | None,
    typer.Option(
        "--profile",
        metavar="FILE",
        help="YAML: `consistent: only`, weights of `dimensions` and `operations`, or your own `service`; see "
        "harness/nightly/README.md.",
    ),
]
ShardOption = Annotated[
    str | None,
    typer.Option(
        "--shard", metavar="I/N", help="Only this part of a night whose seed N machines share: `2/5`."
    ),
]
KnownOption = Annotated[
    Path | None,
    typer.Option(
        "--known",
        metavar="FILE",
        help="A file with codes of findings, one per line. The night reports these findings, but they don't "
        "change the exit code.",
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URI",
        help="After the night, read its runs into this store, and write the reports over all of it. --keep "
        "removes folders only after that.",
    ),
]
ReportsOption = Annotated[
    Path | None,
    typer.Option("--reports", metavar="FOLDER", help="Where the reports go. Default: RUNS/reports."),
]
HistoryOption = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        help="The nightly-status.json of an earlier night, which says how long scenarios took. Give all shards "
        "of a night the same one. Default: the one in the folder of runs, which only sets this machine's limits.",
    ),
]
KeptOption = Annotated[
    int | None,
    typer.Option(
        "--keep",
        min=0,
        help="Keep the folders of the newest N runs without a finding, and of the newest N without a result, "
        "including those of earlier nights with --keep. Default: all.",
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
    """Generate scenarios from a seed, run them in parallel, and check what must always hold.

    The exit code is 1 if there is a finding that isn't known. The findings are also in the folder of runs, in
    nightly-status.json; `rocketchaos shrink RUN` makes a small scenario of a finding.
    """
    share_one_arena()
    known_ones = _known(known)
    wanted = Profile() if profile is None else read_profile(profile)
    require_operations(wanted, on)
    part = _part(shard, seed)
    folder = runs_or_default(runs)
    _require_what_comes_last(store, reports, junit)
    status = StatusFile(folder)
    learnt = {} if history is None else read_history(history)
    with Progress() as progress:
        chosen = Options(
            version=chosen_version(rocketmq),
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
            parallel=parallel,
            pace=Pace(learnt or status.history),
            history=learnt,
        )
        thinning = Thinning(keep, folder, status.may_be_removed)
        account = NightAccount(night, known_ones, status, thinning)

        def tell(run: NightlyRun) -> None:
            account.after(run, thin=store is None)
            progress(_after(run, night))

        with Runner(replace(chosen, seed=night.seed)) as runner:
            runner.require_ready()
            try:
                night.play(runner, tell)
            finally:
                progress.stop()
                for cut_off in runner.reports:
                    thinning.note_cut_off(cut_off.folder)
                unwritten = account.tell(as_json=as_json, junit=junit)
    made = [] if store is None else account.store(folder, store, reports or folder / "reports")
    return account.exit_code([*unwritten, *made])


def _known(path: Path | None) -> frozenset[str]:
    """The codes of known findings; those that no finding has are named."""
    codes = read_known(path)
    for doubt in doubts(codes):
        ERR.print(f"rocketchaos: {doubt}")
    return codes


def _part(shard: str | None, seed: int | None) -> Shard:
    """The part of the night that runs here."""
    part = shard_of(shard)
    if part.count > 1 and seed is None:
        raise UsageProblem("the shards of a night need the same seed", "Give all of them the same `--seed`.")
    return part


def _require_what_comes_last(store: str | None, reports: Path | None, junit: Path | None) -> None:
    """It reports a missing package or file now, and not when the night is over."""
    if store is not None:
        require_packages(reports=True)
    elif reports is not None:
        raise UsageProblem("reports need a store", "Give `--store` as well.")
    if junit is not None:
        require_writable(junit, "Choose another --junit.")


def _after(run: NightlyRun, night: Night) -> str:
    """The line that is shown when a run has ended."""
    found = counted(len(run.findings), "finding") if run.not_judged is None else "it says nothing"
    return f"{run.name}: {found}; {counted(len(night.runs), 'run')}, {night.left_s:.0f} s left"
