"""`rocketchaos clean`: remove the leftovers of harnesses that were killed together with their reaper."""

from rocketchaos.harness.cli.terminal import OUT
from rocketchaos.harness.cluster.leftovers import clean as clean_up
from rocketchaos.harness.core.errors import ExitCode


def clean() -> ExitCode:
    """Stop and remove what a power cut or a SIGKILL left behind. It touches nothing else."""
    cleaned = clean_up()
    for text in cleaned.processes:
        OUT.print(f"ended {text}")
    for identity in cleaned.clusters:
        OUT.print(f"removed the record of cluster {identity}")
    for thing in cleaned.things:
        OUT.print(f"removed {thing.kind} {thing.name}")
    for folder in cleaned.folders:
        OUT.print(f"removed {folder}")
    for text in cleaned.left:
        OUT.print(text)
    if cleaned.left:
        OUT.print("Remove the obstacle, and run `rocketchaos clean` again.")
    if not (cleaned.processes or cleaned.clusters or cleaned.things or cleaned.folders or cleaned.left):
        OUT.print("Nothing was left.")
    return ExitCode.AS_EXPECTED
