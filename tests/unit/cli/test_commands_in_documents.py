"""Every command that a document shows is one that `rocketchaos` takes: command, options, kinds of values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.parsing import parsed

ROOT = Path(__file__).resolve().parents[3]
ROOMS = ("docs", "docker", "examples", "harness", "spark_reports")
DOCUMENTS = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "scenarios" / "README.md",
        *(path for room in ROOMS for path in (ROOT / room).rglob("*.md") if "target" not in path.parts),
    ]
)
BLOCK = re.compile(r"^(?:    |\$ )\s*(\S.*)$")
COMMAND = re.compile(r"(?:^|&& |; |  )(rocketchaos (?:(?! && |; |  ).)*)")
"""Also behind another command, or behind the times of a line for cron."""
INLINE = re.compile(r"`(rocketchaos [^`]+)`")
NAME = re.compile(r"rocketchaos [a-z]+( [a-z]+)?")
NUMBERS = re.compile(r"(?<= )N\b")


def commands(text: str) -> Iterator[str]:
    """Of lines in blocks and of inline code; what stands for a number is one."""
    for line in text.splitlines():
        shown = BLOCK.match(line)
        if shown:
            yield from COMMAND.findall(shown.group(1).partition(" #")[0])
        for inline in INLINE.findall(line):
            # A command that is only named lacks what it needs.
            yield f"{inline} --help" if NAME.fullmatch(inline) else inline


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_of_a_document_is_understood(document: Path) -> None:
    for command in commands(document.read_text("utf-8")):
        if "…" not in command and "..." not in command:
            parsed(NUMBERS.sub("1", command))


def test_each_command_of_a_line_is_read() -> None:
    line = "    17 2 * * *  touch a; rocketchaos list retry && rocketchaos versions   # both\n"
    assert list(commands(line)) == ["rocketchaos list retry", "rocketchaos versions"]


def test_a_slip_in_a_document_is_noticed() -> None:
    (command,) = commands("    rocketchaos reproduce NAME --repeats 5   # often\n")
    with pytest.raises(Exception, match="--repeats"):
        parsed(command)
