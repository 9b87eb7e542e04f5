"""Where a store is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from harness.errors import EnvironmentNotReady, UsageProblem

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that Spark can reach."""

    uri: str
    """With its scheme: what has none would be in HDFS where Hadoop is set up so."""
    folder: Path | None
    """None: not on a disk of this machine."""

    @classmethod
    def of(cls, text: str) -> Place:
        """The place of a path or URI, as a user writes it.

        Raises:
            UsageProblem: it is empty, or a URI without a path.
        """
        scheme = _SCHEME.match(text)
        if scheme is not None and scheme[1].lower() != "file":
            return cls(text.rstrip("/"), None)
        path = re.sub(r"^/{2,}", "/", text[scheme.end() :]) if scheme else text
        if not path:
            raise UsageProblem(
                f"{text!r} is no place for a store", "Give a folder, or a URI such as hdfs:///store."
            )
        folder = Path(path).expanduser().absolute()
        return cls(f"file:{folder}", folder)

    def make(self) -> None:
        """Make the folder, where it is on a disk.

        Raises:
            EnvironmentNotReady: it can't be made.
        """
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentNotReady(
                f"the store can't be made: {error.strerror}: {self.folder}", "Choose another place."
            ) from error

    def of_table(self, name: str) -> str:
        """The URI of a table."""
        return f"{self.uri}/{name}"
