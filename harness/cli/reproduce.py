"""`rocketchaos reproduce`: one scenario, once or often."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.cli.common import chosen_version, run_and_tell, say_hints, say_left_out
from rocketchaos.harness.cli.common_options import (
    ChosenRocketmqOption,
    DashboardOption,
    JsonOption,
    JunitOption,
    KeepOption,
    ParallelOption,
    RunsOption,
    SeedOption,
    Timing,
    TimingOption,
)
from rocketchaos.harness.cli.completing import scenario_names
from rocketchaos.harness.cli.matrix_option import MatrixOption, matrix_of
from rocketchaos.harness.cli.output_files import runs_or_default
from rocketchaos.harness.cli.terminal import ERR, Progress, tell_left_out
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.core.user_files import recorded_file
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.builds import open_recorded
from rocketchaos.harness.nightly.again import codes
from rocketchaos.harness.nightly.document import MARK
from rocketchaos.harness.plan.library import find
from rocketchaos.harness.plan.matrix import Matrix, plan
from rocketchaos.harness.plan.options import Options
from rocketchaos.harness.rocketmq.client_kinds import ClientChoice, client_choice
from rocketchaos.harness.scenario import load_scenario, parse_scenario
from rocketchaos.harness.scenario.model import Scenario


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE|RUN",
            help="A scenario's name or file, or the folder of a run.",
            autocompletion=scenario_names,
        ),
    ],
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="Repeat it, and show the distribution.")] = 1,
    parallel: ParallelOption = None,
    rocketmq: ChosenRocketmqOption = None,
    matrix: MatrixOption = None,
    on: Annotated[
        ClusterKind | None,
        typer.Option(
            "--on",
            help="Name server and brokers as processes of this host, or in containers. Default: embedded.",
        ),
    ] = None,
    dashboard: DashboardOption = False,
    timing: TimingOption = None,
    seed: SeedOption = None,
    runs: RunsOption = None,
    keep: KeepOption = False,
    as_json: JsonOption = False,
    junit: JunitOption = None,
) -> ExitCode:
    """Run a scenario on a real RocketMQ, and report whether its anomaly shows.

    With a run's folder it runs the same scenario, version, client, timing and seed again; options change them.
    For a night's run it reports in how many of the new runs each finding was there.
    """
    wanted = matrix_of(matrix, rocketmq)
    scenario, client, options = _prepare(what, rocketmq, on, timing, seed)
    planned = plan([scenario], (wanted or Matrix()).cells(options.version, client), options.on)
    say_hints([scenario])
    say_left_out(planned, wanted)
    if wanted is not None and wanted.clients and scenario.names_its_clients:
        named = ", ".join(dict.fromkeys(str(consumer.client) for consumer in scenario.consumers.values()))
        tell_left_out(f"the matrix's clients: the consumers of {scenario.name} name theirs, {named}")
    with Progress() as progress:
        runner = Runner(
            replace(options, dashboard=dashboard, runs=runs_or_default(runs), keep=keep, progress=progress)
        )
        code = run_and_tell(
            runner,
            [job for job in planned.jobs for _ in range(repeat)],
            parallel=parallel,
            progress=progress,
            as_json=as_json,
            junit=junit,
            left_out=planned.left_out,
            matrix=wanted is not None,
            wanted=_findings_of(Path(what), scenario),
        )
    for record in runner.kept:
        ERR.print(
            f"The cluster stays up: name server {record.nameserver}. `rocketchaos down {record.id}` ends it."
        )
    return code


def _findings_of(path: Path, scenario: Scenario) -> tuple[str, ...]:
    """What is to be seen again: the findings of the run in this folder, where a night drew its scenario."""
    if not path.is_dir() or MARK not in scenario.marks:
        return ()
    from rocketchaos.harness.reporting.folder import load_report

    return codes(load_report(path))


def _prepare(
    what: str, rocketmq: str | None, on: ClusterKind | None, timing: Timing | None, seed: int | None
) -> tuple[Scenario, ClientChoice | None, Options]:
    """The scenario, the client that a matrix gave it, and what of the options is recorded in a run."""
    chosen = None if timing is None else timing.value
    path = Path(what)
    if not path.is_dir():
        return (
            load_scenario(find(what)),
            None,
            Options(
                version=chosen_version(rocketmq), on=on or ClusterKind.EMBEDDED, timing=chosen, seed=seed
            ),
        )
    folder = RunFolder.existing(path)
    record = folder.read_json("run.json")
    scenario = parse_scenario(
        folder.scenario_path.read_text(encoding="utf-8"),
        recorded_file(record) or str(folder.scenario_path),
        reach=False,
    )
    recorded = str(record.get("rocketmq") or "")
    if rocketmq is None:
        open_recorded(record)
    chosen_client = record.get("chosen_client")
    client = None if chosen_client is None else client_choice(chosen_client)
    return (
        scenario,
        client,
        Options(
            version=recorded if recorded and rocketmq is None else chosen_version(rocketmq),
            on=on or ClusterKind((record.get("cluster") or {}).get("kind") or ClusterKind.EMBEDDED),
            timing=chosen or record.get("timing"),
            seed=record.get("seed") if seed is None else seed,
        ),
    )
