"""Which run folders of nights stay: all that show something, and of the others only the last ones."""

import shutil
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from rocketchaos.harness.nightly.nightly_run import NightlyRun


class Thinning:
    """Removes the folders of runs that showed nothing, and of those that said nothing, but the last ones of each.

    A run that shows a finding stays.
    """

    def __init__(self, keep: int | None, runs: Path, earlier: Iterable[str] = ()) -> None:
        """
        Args:
            keep: how many of each; None: all.
            runs: the folder of all runs; nothing outside of it is ever removed.
            earlier: what `left` said at the end of the night before.
        """
        self._keep = keep
        self._earlier = tuple(earlier)
        self._runs = runs.resolve()
        self._silent: deque[Path] = deque()
        self._not_judged: deque[Path] = deque()
        for item in self._earlier:
            folder = Path(item).resolve()
            if folder.is_relative_to(self._runs) and folder != self._runs and (folder / "run.json").is_file():
                self._silent.append(folder)
        self.removed = 0

    @property
    def left(self) -> list[str]:
        """What may be removed in nights to come, the oldest first; where this one keeps all, its argument."""
        if self._keep is None:
            return list(self._earlier)
        return [str(folder) for folder in (*self._not_judged, *self._silent)]

    def note(self, run: NightlyRun) -> None:
        """A run has ended."""
        for folder in run.broken:
            self.note_cut_off(folder)
        if not run.findings:
            (self._silent if run.not_judged is None else self._not_judged).append(run.folder.resolve())

    def note_cut_off(self, folder: Path) -> None:
        """A run says nothing, because it did not complete."""
        self._not_judged.append(folder.resolve())

    def thin(self) -> None:
        """Remove what is too much. Files that can't be removed stay: that is no failure of the night."""
        for folders in (self._silent, self._not_judged):
            while self._keep is not None and len(folders) > self._keep:
                _remove(folders.popleft())
                self.removed += 1


def _remove(run: Path) -> None:
    shutil.rmtree(run, ignore_errors=True)
    with suppress(OSError):  # somebody else may tidy up as well
        # With the link to it, which the next run of that name would renew.
        latest = run.parent / "latest"
        if latest.is_symlink() and not latest.exists():
            latest.unlink(missing_ok=True)
        if not any(run.parent.iterdir()):
            run.parent.rmdir()
