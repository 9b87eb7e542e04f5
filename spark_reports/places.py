"""Where a store, or run folders, are: the one place where paths and URIs are read as users write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_OF_GLOBS = re.compile(r"[\\{}\[\]*?]")
_ONLY_READ = ("http", "https")
"""Hadoop has a file system for them that can neither list nor write."""
_OLD_S3 = ("s3", "s3n")
_SMALL_BYTES = 16 * 2**20
_TINY_BYTES = 3 * 2**20
_NEED_A_BUCKET = ("s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that Spark can reach."""

    uri: str
    """With its scheme, not encoded: without one it would mean HDFS if Hadoop is set up so."""
    folder: Path | None
    """None: not on a disk of this machine."""

    @classmethod
    def of(cls, text: str) -> Place:
        """The place of a path or URI, as a user writes it.

        What follows `file:` is percent-decoded, as in any URI; Hadoop takes a `%` of its own URIs as it is.

        Raises:
            UsageProblem: it is empty, a URI without an absolute path or a bucket, the home of nobody, of HTTP, or
                has a password.
        """
        scheme = _SCHEME.match(text)
        if scheme is None:
            return cls._local(text, text)
        if scheme[1].lower() == "file":
            path = re.sub(r"^//localhost(?=/)|^//(?=/)", "", text[scheme.end() :])
            if not path.startswith("/") or path.startswith("//"):
                raise _no_place(text, "a path behind `file:` begins at the root: file:///folder")
            return cls._local(text, unquote(path))
        return cls._remote(text)

    @classmethod
    def _local(cls, text: str, path: str) -> Place:
        if not path or "\0" in path:
            raise _no_place(text, "it is empty")
        try:
            folder = Path(path).expanduser().absolute()
        except RuntimeError as error:
            raise _no_place(text, "there is no such user") from error
        return cls(f"file:{folder}", folder)

    @classmethod
    def _remote(cls, text: str) -> Place:
        try:
            parts = urlsplit(text)
        except ValueError as error:
            raise _no_place(text, str(error)) from error
        if parts.scheme in _ONLY_READ:
            raise _no_place(text, "over HTTP files can't be listed or written")
        if ":" in parts.netloc.rpartition("@")[0]:
            # Not shown: it would be in logs then, and a URI is also on every page.
            raise UsageProblem(
                f"a URI of {parts.scheme}: has a password in it",
                "Leave it out. spark_reports/README.md says how a store's credentials are given.",
            )
        if parts.scheme in _OLD_S3:
            raise _no_place(text, "for Hadoop, S3 is s3a://")
        behind = text.partition(":")[2]
        if not behind.startswith("/"):
            raise _no_place(text, "a URI has an absolute path; a folder of that name is ./NAME")
        if not behind.strip("/"):
            raise _no_place(text, "it is a URI without a path")
        if parts.scheme in _NEED_A_BUCKET and not parts.netloc:
            raise _no_place(text, "it is a URI without a bucket")
        return cls(text.rstrip("/"), None)

    def require_there(self) -> None:
        """See that the folder is there, where it is on a disk.

        Raises:
            UsageProblem: it isn't, so it holds no store.
        """
        if self.folder is not None and not self.folder.is_dir():
            raise no_store(str(self.folder))

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
                f"the folder can't be made: {error.strerror}: {self.folder}", "Choose another place."
            ) from error

    def is_small(self) -> bool:
        """Whether it is a folder of this machine, there or not yet, with at most 16 MiB: 2 million facts."""
        return self._holds_at_most(_SMALL_BYTES)

    def is_tiny(self) -> bool:
        """Whether it is one with at most 3 MiB: about 300,000 message facts."""
        return self._holds_at_most(_TINY_BYTES)

    def _holds_at_most(self, limit_bytes: int) -> bool:
        if self.folder is None:
            return False
        sizes = (file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
        try:
            return all(so_far <= limit_bytes for so_far in accumulate(sizes))
        except OSError:
            # Another process removes a file meanwhile.
            return False

    def of_table(self, name: str) -> str:
        """The URI of a table."""
        return f"{self.uri}/{name}"


def no_store(where: str) -> UsageProblem:
    """There is none at this place, as a user writes it."""
    return UsageProblem(
        f"there is no store at {where}", f"Ingest runs first: rocketchaos report ingest RUNS --store {where}."
    )


def literal(path: str) -> str:
    """A path for Spark's readers that names what it says, though it may look like a glob.

    Their option `__globPaths__` can't be used: with `false` each of several paths that look like globs stands for
    all of them, and their rows come several times (Spark 4.1.0, `DataSource.checkAndGlobPathIfNecessary`).
    """
    return _OF_GLOBS.sub(r"\\\g<0>", path)


def _no_place(text: str, why: str) -> UsageProblem:
    return UsageProblem(
        f"{text!r} is no place: {why}", "Give a folder, or a URI such as hdfs://namenode/store."
    )
