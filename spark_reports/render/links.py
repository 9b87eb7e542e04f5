"""Links from a report to run folders: on this machine, or at the addresses that a template gives."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from rocketchaos.harness.core.errors import UsageProblem

PAGE = "report.html"
"""Of a run, in its folder."""
_FIELD = re.compile(r"\{([^{}]*)\}")
_FIELDS = ("name", "parent", "path", "file")


def run_folder(text: str) -> Path | None:
    """The folder that a URI or an absolute path names; None if it is not on this machine.

    `file:/folder`, as the store has it (see `spark_reports.places`), is not encoded; `file:///folder` is.
    """
    try:
        path = Path(_path(text))
        return path if path.is_absolute() and path.is_dir() else None
    except (OSError, ValueError):
        return None


def _path(text: str) -> str:
    if text.startswith("file://"):
        parts = urlsplit(text)
        return unquote(parts.path) if parts.netloc in ("", "localhost") else ""
    return text.removeprefix("file:")


def path_text(source: str) -> str:
    """A run folder as a command takes it: its path, or its URI if it is not on a disk."""
    return source.removeprefix("file:") if source.startswith("file:/") else source


def run_name(source: str) -> str:
    """The name of a run folder."""
    return path_text(source).rstrip("/").rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class RunsUrl:
    """The address that serves run folders: `https://ci.example.org/{parent}/{name}/`."""

    template: str

    @classmethod
    def of(cls, template: str) -> RunsUrl:
        """Check the template.

        Raises:
            UsageProblem: it is no address of a web server, or it names no run.
        """
        fields = _FIELD.findall(template)
        if not template.startswith(("https://", "http://")):
            raise UsageProblem(
                f"--runs-url is no address: {template}",
                "Give one such as https://ci.example.org/runs/{name}/.",
            )
        strange = [field for field in fields if field not in _FIELDS]
        if strange or not {"name", "path"} & set(fields):
            wrong = f"it has {{{strange[0]}}}" if strange else "it is the same for every run"
            raise UsageProblem(
                f"--runs-url can't be used: {wrong}: {template}",
                "It takes {name}, the run folder's name, {parent}, the name of the folder above, or {path}, the "
                "whole path. {file} marks the place for a file's name; by default it is the end.",
            )
        return cls(template)

    def to(self, source: str, file: str = "") -> str:
        """The address of a run folder, or of a file in it."""
        path = (urlsplit(source).path if re.match(r"[a-z0-9+.-]+://", source) else _path(source)).strip("/")
        *above, name = path.split("/")
        values = {"name": name, "parent": above[-1] if above else "", "path": path, "file": file}
        url = _FIELD.sub(lambda found: quote(values[found[1]]), self.template)
        return url if "{file}" in self.template else f"{url.rstrip('/')}/{file}"


@dataclass(frozen=True, slots=True)
class RunLink:
    """A run on a page."""

    name: str
    page: str
    """The address of its page, or of its folder if it has no page."""
    folder: str
    reproduce: str
    """The line that runs it again."""


@dataclass(frozen=True, slots=True)
class RunLinks:
    """How a page links to runs."""

    page_folder: Path
    url: RunsUrl | None = None

    def to(self, source: str) -> RunLink | None:
        """The links of a run; None if it is on another machine and there is no template: its folder stays text."""
        folder = run_folder(source)
        name = run_name(source)
        line = f"rocketchaos reproduce {shlex.quote(name if folder is None else str(folder))}"
        if self.url is not None:
            return RunLink(name, self.url.to(source, PAGE), self.url.to(source), line)
        if folder is None:
            return None
        page = folder / PAGE
        to_folder = _href(folder, self.page_folder)
        return RunLink(name, _href(page, self.page_folder) if page.is_file() else to_folder, to_folder, line)


def _href(target: Path, page_folder: Path) -> str:
    """Relative if the two have more than the root in common, so that they can be moved together."""
    target, here = target.resolve(), page_folder.resolve()
    if Path(os.path.commonpath([target, here])) == Path(target.anchor):
        return target.as_uri()
    relative = quote(Path(os.path.relpath(target, here)).as_posix())
    # A colon in the first part would be read as a scheme.
    return relative if relative.startswith(".") else f"./{relative}"


def run_text(source: str, url: RunsUrl | None) -> str:
    """A run as text: the address of its page, or its folder."""
    return path_text(source) if url is None else url.to(source, PAGE)
