"""Members that didn't answer a moment ago: neither this command nor the next one asks them again at once.

A client of 5.2 or later that is asked for its state (307) while it still works on such a question can wait for
itself and close its connection (docs/findings/running-info-waits-for-itself.md).
"""

import hashlib
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady

SILENT_S = 10.0
"""A member that didn't answer gets this long before it is asked again: a broker waits as long for it
(Broker2Client.callClient)."""


class Silence:
    """When members didn't answer. An empty file for each, in a folder that commands share; its time says when."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: for other commands too; it is made. None: only for this one."""
        self._folder = folder
        self._asked_s: dict[str, float] = {}
        if folder is not None:
            with suppress(OSError):
                folder.mkdir(exist_ok=True)
                for file in folder.iterdir():
                    if self._left_s(file.stat().st_mtime) <= 0:
                        file.unlink(missing_ok=True)

    def left_s(self, fields: Mapping[str, str]) -> float:
        """How long the member is left alone: seconds, 0 if it answered last.

        Args:
            fields: of the question to it, which name its group and its client id.
        """
        name = _name(fields)
        asked_s = self._asked_s.get(name, 0.0)
        if self._folder is not None:
            with suppress(OSError):
                asked_s = max(asked_s, (self._folder / name).stat().st_mtime)
        return self._left_s(asked_s)

    def note(self, fields: Mapping[str, str]) -> None:
        """It didn't answer. Where the folder can't be written, only this command knows."""
        name = _name(fields)
        self._asked_s[name] = time.time()
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / name).touch()

    def forget(self, fields: Mapping[str, str]) -> None:
        """It answered."""
        name = _name(fields)
        self._asked_s.pop(name, None)
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / name).unlink(missing_ok=True)

    @staticmethod
    def _left_s(asked_s: float) -> float:
        # At most the whole time, also if the clock was set back meanwhile.
        return max(0.0, min(SILENT_S, asked_s + SILENT_S - time.time()))


def of_this_user() -> Silence:
    """What all commands of this user know; of this command alone where the cache can't be written."""
    try:
        return Silence(paths.cache_folder() / "silent-members")
    except EnvironmentNotReady:
        return Silence()


def _name(fields: Mapping[str, str]) -> str:
    member = f"{fields.get('consumerGroup', '')}\n{fields.get('clientId', '')}"
    return hashlib.sha256(member.encode()).hexdigest()[:32]
