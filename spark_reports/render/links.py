"""Links from a report to run folders: only to those on this machine, as the browser can open no others."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit


def run_folder(text: str) -> Path | None:
    """The folder that a URI, or a path from the root, names; None where it names none of this machine.

    `file:/folder`, as the store has it (see `spark_reports.places`), is not encoded; `file:///folder` is.
    """
    try:
        if text.startswith("file://"):
            parts = urlsplit(text)
            path = Path(unquote(parts.path) if parts.netloc in ("", "localhost") else "")
        else:
            path = Path(text.removeprefix("file:"))
        return path if path.is_absolute() and path.is_dir() else None
    except (OSError, ValueError):
        return None


def link(text: str, page_folder: Path) -> str | None:
    """Where a page in `page_folder` links to for a run folder: its `report.html`, or the folder itself.

    Relative where the two have more than the root in common, so that they can be moved together.
    None: the text names no run folder of this machine, and stays text.
    """
    folder = run_folder(text)
    if folder is None:
        return None
    page = folder / "report.html"
    target, here = (page if page.is_file() else folder).resolve(), page_folder.resolve()
    if Path(os.path.commonpath([target, here])) == Path(target.anchor):
        return target.as_uri()
    relative = quote(Path(os.path.relpath(target, here)).as_posix())
    # A colon in the first part would be read as a scheme.
    return relative if relative.startswith(".") else f"./{relative}"
