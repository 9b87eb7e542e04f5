"""What a night found in a run, written into the run's record, so that facts and reports know it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.facts.folder_facts import write_facts
from rocketchaos.harness.nightly.findings import NightlyFinding


def note_findings(path: Path, found: Sequence[NightlyFinding]) -> None:
    """Write the codes into `run.json`, and the facts again. Best effort: the night's status file has them too."""
    folder = RunFolder(path)
    record = folder.read_json("run.json")
    if not found or not record:
        return
    codes = {finding.code: finding.signature for finding in found}
    noted = {"findings": [{"code": code, "words": words} for code, words in codes.items()]}
    with suppress(EnvironmentNotReady):  # a full disk shows in whatever runs next
        folder.write_json("run.json", {**record, "nightly": noted})
        write_facts(folder)
