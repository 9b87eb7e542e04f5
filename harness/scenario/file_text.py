"""Reading a scenario file as text."""

import codecs
from pathlib import Path

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.scenario.diagnostics import InvalidScenario
from rocketchaos.harness.scenario.yaml_places import Span, at_span, split_lines

LARGEST_BYTES = 1 << 20
"""The size of a scenario file at most; real ones have a few thousand bytes."""

_FILES = (
    "`rocketchaos list` shows the scenarios that are here; `rocketchaos reproduce NAME` runs one by its name."
)
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def read_text(path: Path) -> str:
    """The text of a file in UTF-8.

    Raises:
        UsageProblem: there is no such file, it is none, it can't be read, or it is larger than 1 MiB.
        InvalidScenario: it is not in UTF-8; says where.
    """
    content = _read(path)
    if len(content) > LARGEST_BYTES:
        raise UsageProblem(f"{path} is larger than 1 MiB: it can't be a scenario")
    if content.startswith(_WIDE_MARKS):
        message = "the file is in UTF-16 or UTF-32: save it as UTF-8"
        raise InvalidScenario([at_span(str(path), [""], Span(1, 1, 1), message)])
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = split_lines(content[: error.start].decode("utf-8"))
        lines = split_lines(content.decode("utf-8", errors="replace"))
        place = Span(len(before), len(before[-1]) + 1, 1)
        message = f"the byte 0x{content[error.start]:02X} is not UTF-8: save the file as UTF-8"
        raise InvalidScenario([at_span(str(path), lines, place, message)]) from None


def _read(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UsageProblem(f"{path} is a directory: give a scenario file")
        if not path.exists():
            raise UsageProblem(f"there is no file {path}", _FILES)
        if not path.is_file():
            raise UsageProblem(f"{path} is no regular file")
        with path.open("rb") as file:
            return file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise UsageProblem(f"{path} can't be read: {(error.strerror or str(error)).lower()}") from None
