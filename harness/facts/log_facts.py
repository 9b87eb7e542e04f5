"""Errors and telling warnings in the logs of a run."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rocketchaos.harness.core.names import TOKEN
from rocketchaos.harness.facts.signature import signature

MOST = 20
"""The limit of different lines of a run, the first ones; each is counted."""
LONGEST = 2000
"""Characters of a line."""
ENDINGS = (".log", ".txt")
"""Files that are logs."""

_ERROR = re.compile(
    r"\b(ERROR|FATAL|SEVERE)\b|^(Traceback|Exception in thread|\w+(\.\w+)+(Exception|Error)\b)|OutOfMemory",
    re.ASCII,
)
_WARNING = re.compile(r"\bWARN(ING)?\b", re.ASCII)
_TELLING = re.compile(
    r"exception|time(d)? ?out|refused|reject|fail|not (exist|latest|found|online)|discard|unreachable"
    r"|no space|too many|busy|flow control|expired",
    re.ASCII | re.IGNORECASE,
)
_HEAD = re.compile(r"\d[\d-]* [\d:.,]+ +([A-Z]+) .*? - ", re.ASCII)
"""What RocketMQ's layouts put before a message: the time, the level, and the thread, or the client's process and
class. Versions have other layouts, and threads other names, for the same message."""
_ANOTHER_RUN = re.compile(rf"-({TOKEN})\b", re.ASCII)


@dataclass(slots=True)
class LogFinding:
    """What is alike in a log."""

    node: str
    """Whose log it is."""
    text: str
    """The first such line."""
    signature: str
    """Of the level and the message alone."""
    occurrences: int = 1


def log_findings(logs: Path, run: str) -> list[LogFinding]:
    """What the files in this folder tell; what can't be read tells nothing."""
    return found_in(_lines(logs), run)


def found_in(lines: Iterable[tuple[str, str]], run: str) -> list[LogFinding]:
    """What is telling in these lines, each with whose log it is in.

    Logs of a shared cluster have other runs' lines too: what names another run, and not this one, is left out.
    """
    found: dict[tuple[str, str], LogFinding] = {}
    for node, line in lines:
        if not _ERROR.search(line) and not (_WARNING.search(line) and _TELLING.search(line)):
            continue
        if run not in line and _ANOTHER_RUN.search(line):
            continue
        text = line.strip(" ")[:LONGEST]
        head = _HEAD.match(text)
        alike = signature(f"{head[1]} {text[head.end() :]}" if head else text, run)
        if (node, alike) in found:
            found[node, alike].occurrences += 1
        else:
            found[node, alike] = LogFinding(node, text, alike)
    return list(found.values())[:MOST]


def _lines(logs: Path) -> Iterator[tuple[str, str]]:
    for folder, below, names in os.walk(logs):
        below.sort()
        for file in sorted(Path(folder) / name for name in names if name.endswith(ENDINGS)):
            # The file's name, or the folder's below `logs`.
            node = re.sub(r"\.(log|txt)$", "", file.relative_to(logs).parts[0])
            try:
                with file.open(encoding="utf-8", errors="replace") as opened:
                    for line in opened:
                        yield node, line.rstrip("\n")
            except OSError:
                continue
