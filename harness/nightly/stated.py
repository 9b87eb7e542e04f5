"""A night's status file, read when the night is over: which findings there were, and which runs show them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.core.text import reason_of
from rocketchaos.harness.nightly.known_before import code_of, is_meant


@dataclass(frozen=True, slots=True)
class StatedFinding:
    """A finding as the file has it."""

    code: str
    signature: str
    """The code in words, as they were then."""
    known: bool
    shown_by: tuple[Path, ...]
    """Folders of the runs that show it, as the night named them."""
    status: Path

    @property
    def runs(self) -> list[Path]:
        """The runs that show it, that with the fewest events first: the easiest one to shrink.

        Raises:
            UsageProblem: none of them is there any more.
        """
        there = [folder for item in self.shown_by if (folder := self._found(item)) is not None]
        if not there:
            named = ", ".join(map(str, self.shown_by)) or "none is named"
            raise UsageProblem(
                f"no run that shows it is there any more: {named}",
                f"Put their folders into {self.status.parent}, each as SCENARIO/RUN.",
            )
        return sorted(there, key=_events)

    def _found(self, run: Path) -> Path | None:
        """The folder: next to the status file, because both may have been moved; else where the night had it."""
        for folder in (self.status.parent.joinpath(*run.parts[-2:]), run):
            try:
                return RunFolder.existing(folder).path
            except UsageProblem:
                continue
        return None


def of_night(file: Path, text: str = "") -> list[StatedFinding]:
    """The findings of a night that are not known, and have the text in their code or words, in order.

    Raises:
        UsageProblem: it can't be read, is no status file of a night, or none of them has the text.
    """
    new = [item for item in _read(file) if not item.known]
    wanted = [item for item in new if text in item.signature or is_meant(item.code, text)]
    if new and not wanted:
        raise UsageProblem(
            f"no new finding in {file} has `{text}` in its code",
            "There are: " + "; ".join(f"{item.code} ({item.signature})" for item in new),
        )
    return wanted


def _read(file: Path) -> list[StatedFinding]:
    try:
        return list(_findings(file, json.loads(file.read_text(encoding="utf-8"))))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(
            f"{file} can't be read: {reason_of(error)}", "Give the nightly-status.json of a night."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageProblem(
            f"{file} is no status file of a night",
            "`rocketchaos nightly` writes one into the folder of its runs.",
        ) from None


def _findings(file: Path, document: Any) -> Iterator[StatedFinding]:
    for item in document["findings"]:
        runs = tuple(Path(run["run"]) for run in item["shown_by"])
        signature = str(item["signature"])
        # Files from before findings had codes have the signature alone.
        yield StatedFinding(
            str(item.get("code") or code_of(signature)), signature, bool(item["known"]), runs, file.resolve()
        )


def _events(run: Path) -> int:
    """How many events a run has."""
    with RunFolder(run).events_path.open("rb") as lines:
        return sum(1 for _ in lines)
