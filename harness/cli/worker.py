"""`rocketchaos worker ...`: workers of clients that the harness doesn't bring."""

from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.cli.ending import ending_in_a_code
from rocketchaos.harness.cli.single_options import SingleOptionsCommand
from rocketchaos.harness.cli.terminal import OUT, Progress
from rocketchaos.harness.conformance.run import Result, results
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.plan.options import DEFAULT_VERSION
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.rocketmq.client_traits import ClientKind
from rocketchaos.harness.rocketmq.own_workers import VARIABLE, read_manifest
from rocketchaos.harness.workers.worker_kinds import KINDS, WorkerKind, kind_of

_MARKS = {"passed": "✓", "failed": "✗", "not applicable": "-"}


def worker_test(
    worker: Annotated[
        str,
        typer.Argument(metavar="FOLDER|CLIENT", help="The folder with worker.yaml, or the name of a client."),
    ],
    rocketmq: Annotated[
        str, typer.Option("--rocketmq", metavar="VERSION", help="RocketMQ of the servers.")
    ] = DEFAULT_VERSION,
    logs: Annotated[
        Path,
        typer.Option("--logs", metavar="DIR", help="The folder for the worker's output and client logs."),
    ] = Path("worker-test"),
) -> ExitCode:
    """Try a worker against a real RocketMQ: whether it does what the protocol and its own traits say.

    The exit code is 1 if a check fails.
    """
    kind, worker_kind = _chosen(worker)
    found: list[Result] = []
    with Progress() as progress:
        for result in results(kind, worker_kind, rocketmq, logs.absolute(), progress):
            found.append(result)
            _tell(result)
    failed = [item for item in found if item.outcome == "failed"]
    if failed:
        OUT.print(f"{len(failed)} of {len(found)} checks fail; the logs are in {logs}")
        return ExitCode.NOT_AS_EXPECTED
    OUT.print(f"{kind.name} speaks the protocol: {len(found)} checks on RocketMQ {rocketmq}")
    if worker not in CLIENT_KINDS:
        OUT.print(f"Use it in scenarios as `client: {kind.name}` with {VARIABLE}={worker}")
    return ExitCode.AS_EXPECTED


def _chosen(worker: str) -> tuple[ClientKind, WorkerKind]:
    if worker in CLIENT_KINDS:
        return CLIENT_KINDS[worker], KINDS[CLIENT_KINDS[worker].worker]
    own = read_manifest(Path(worker))
    return own.kind, kind_of(own)


def _tell(result: Result) -> None:
    why = f": {result.why}" if result.why else ""
    OUT.print(f"{_MARKS[result.outcome]} {result.api} {result.check}{why}")


def worker_application() -> typer.Typer:
    """The group of commands."""
    app = typer.Typer(no_args_is_help=True, add_completion=False)

    @app.callback()
    def group() -> None:
        """Add a client in any language: try a worker of your own against a real RocketMQ."""

    app.command("test", cls=SingleOptionsCommand)(ending_in_a_code(worker_test))
    return app
