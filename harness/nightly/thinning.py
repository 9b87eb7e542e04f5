"""Which run folders of a night stay: all that tell something, and of the others only the last ones."""

from __future__ import annotations

import shutil
from collections import deque
from pathlib import Path

from harness.nightly.run import NightlyRun


class Thinning:
    """Removes the folders of runs that were judged and showed nothing, but for the last `keep`.

    None: it keeps all.
    """

    def __init__(self, keep: int | None) -> None:
        self._keep = keep
        self._silent: deque[Path] = deque()
        self.removed = 0

    def note(self, run: NightlyRun) -> None:
        """A run has ended."""
        if not run.findings and run.not_judged is None:
            self._silent.append(run.folder)

    def thin(self) -> None:
        """Remove what is too much. What can't be removed stays: that is no failure of the night."""
        while self._keep is not None and len(self._silent) > self._keep:
            oldest = self._silent.popleft()
            shutil.rmtree(oldest, ignore_errors=True)
            # With the link to it, which the next run of that name would renew.
            latest = oldest.parent / "latest"
            if latest.is_symlink() and not latest.exists():
                latest.unlink(missing_ok=True)
            if not any(oldest.parent.iterdir()):
                oldest.parent.rmdir()
            self.removed += 1
