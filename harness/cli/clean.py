"""`rocketchaos clean`: remove the leftovers of harnesses that were killed together with their reaper."""

from __future__ import annotations

from rocketchaos.harness.cli.terminal import OUT
from rocketchaos.harness.cluster.leftovers import clean as clean_up
from rocketchaos.harness.core.errors import ExitCode


def clean() -> ExitCode:
    """Stop and remove what a power cut or a SIGKILL left behind. It touches nothing else."""
    cleaned = clean_up()
    for text in cleaned.processes:
        OUT.print(f"ended {text}", markup=False)
    for identity in cleaned.clusters:
        OUT.print(f"removed the record of cluster {identity}", markup=False)
    for thing in cleaned.things:
        OUT.print(f"removed {thing.kind} {thing.name}", markup=False)
    for folder in cleaned.folders:
        OUT.print(f"removed {folder}", markup=False)
    for text in cleaned.left:
        OUT.print(text, markup=False)
    if cleaned.left:
        OUT.print("Remove the obstacle, and run `rocketchaos clean` again.", markup=False)
    if not (cleaned.processes or cleaned.clusters or cleaned.things or cleaned.folders or cleaned.left):
        OUT.print("Nothing was left.", markup=False)
    return ExitCode.AS_EXPECTED
