"""`nightly-status.json`, in the folder of runs: the findings of a night so far, and the data for the next one."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.nightly.pace import History, read_history
from rocketchaos.harness.nightly.summary import Summary

NAME = "nightly-status.json"


class StatusFile:
    """Written again after each run, as a whole or not at all: whatever ends the night, its findings are there."""

    def __init__(self, runs: Path) -> None:
        """`runs`: the folder of all runs. The data that an earlier night left there is read at once."""
        self.path = runs / NAME
        self.history = self._history()
        """How long scenarios took in the night before; empty if nothing tells."""
        self.may_be_removed = self._may_be_removed()
        """Folders of runs that the night before would have removed next."""

    def text(self, summary: Summary, may_be_removed: Sequence[str], *, ended: bool) -> str:
        """Its content."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        document = {
            "ended": now if ended else None,
            **summary.as_json(),
            "may_be_removed": list(may_be_removed),
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def write(self, summary: Summary, may_be_removed: Sequence[str], *, ended: bool) -> None:
        """Write it.

        Raises:
            EnvironmentNotReady: it can't be written; the old file is still there.
        """
        text = self.text(summary, may_be_removed, ended=ended)
        beside = self.path.with_name(f"{NAME}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(text, encoding="utf-8")
            beside.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                beside.unlink()
            raise EnvironmentNotReady(
                f"{self.path} can't be written: {error.strerror}", "Choose another place with --runs."
            ) from error

    def _history(self) -> History:
        try:
            return read_history(self.path)
        except UsageProblem:
            return {}

    def _may_be_removed(self) -> list[str]:
        try:
            left = json.loads(self.path.read_text(encoding="utf-8"))["may_be_removed"]
        except (OSError, ValueError, KeyError, TypeError):
            return []
        return [load for load in left if isinstance(load, str)] if isinstance(left, list) else []
