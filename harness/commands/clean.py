"""`rocketchaos clean`: what harnesses left that were killed together with their guardian."""

from __future__ import annotations

from harness.commands.common import OUT
from harness.errors import ExitCode
from harness.leftovers import clean as clean_up


def clean() -> ExitCode:
    """End and remove what a power cut, or a kill of everything, left. Nothing else is touched."""
    cleaned = clean_up()
    for text in cleaned.processes:
        OUT.print(f"ended {text}", markup=False)
    for identity in cleaned.clusters:
        OUT.print(f"removed the record of cluster {identity}", markup=False)
    for folder in cleaned.folders:
        OUT.print(f"removed {folder}", markup=False)
    if not (cleaned.processes or cleaned.clusters or cleaned.folders):
        OUT.print("Nothing was left.", markup=False)
    return ExitCode.AS_EXPECTED
