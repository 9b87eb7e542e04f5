"""The command line of a worker's child, the same wherever it runs."""

import json
from collections.abc import Sequence
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.workers.program import WorkerPlan
from rocketchaos.harness.workers.worker_kinds import log_properties


def prepare_folder(plan: WorkerPlan) -> None:
    """Make the folder that the child is given, and the file in it that names the jars.

    Raises:
        EnvironmentNotReady: it can't be written.
    """
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
        if plan.kind.classpath_role is not None:
            # A class path of 5.x has a hundred jars: too long for a command line that people read.
            _classpath_file(plan).write_text(json.dumps([str(jar.absolute()) for jar in plan.classpath]))
    except OSError as error:
        raise EnvironmentNotReady(f"worker {plan.name} can't be started: {error}") from error


def child_command(
    plan: WorkerPlan, python: str, events_fd: int, libjvm: Path | None = None, jvm_options: Sequence[str] = ()
) -> list[str]:
    """The program with its arguments; without `libjvm` the child looks for a JVM where it is.

    `jvm_options` are those of the place where it runs; the plan's win over them.
    """
    start = [python, "-P", "-m", plan.kind.module] if plan.program is None else plan.program.command
    command = [*start, "--events-fd", str(events_fd)]
    if plan.packages is not None or plan.program is not None:
        command += ["--folder", str(plan.folder.absolute())]
    if plan.library is not None:
        command += ["--library", str(plan.library)]
    if plan.kind.classpath_role is None:
        return command
    command += ["--classpath-file", str(_classpath_file(plan))]
    if libjvm is not None:
        command += ["--libjvm", str(libjvm)]
    own = log_properties(plan.folder.absolute())
    options = (*plan.kind.jvm_options, *own, *jvm_options, *plan.jvm_options)
    # One word each: argparse takes what begins with a dash for an option of its own.
    return [*command, *(f"--jvm-option={option}" for option in options)]


def _classpath_file(plan: WorkerPlan) -> Path:
    return plan.folder.absolute() / "classpath.json"
