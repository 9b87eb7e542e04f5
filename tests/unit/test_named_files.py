"""Documents, docstrings and comments name files and modules that are there."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("harness", "assertions", "spark_reports", "docker", "tests")
HISTORY = {"CHANGELOG.md"}
"""It names what was there when it was written."""
_TOP = "|".join((*ROOMS, "docs", "scenarios"))
PATH = re.compile(rf"(?<![\w./-])(?:{_TOP})/[\w./*-]*\w")
MODULE = re.compile(
    r"(?<![\w.-])(?:rocketchaos\.)?((?:harness|assertions|spark_reports|tests)(?:\.[A-Za-z_]\w*)+)"
)
BARE = re.compile(r"`(\w+\.(?:py|sql))`")
PLACEHOLDER = re.compile(r"(?<![a-z])[A-Z]{2,}(?![a-z])")


def documents() -> list[Path]:
    found = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("scenarios/*.md"),
        ROOT / "Makefile",
        *ROOT.glob(".ci/*"),
    ]
    found += [file for room in ROOMS for kind in ("*.md", "*.py") for file in (ROOT / room).rglob(kind)]
    return sorted(
        file for file in found if file.is_file() and file.name not in HISTORY and "runs" not in file.parts
    )


def prose(file: Path) -> Iterator[tuple[int, str]]:
    """Line and text of what is written for people: all of a document; docstrings and comments of code."""
    text = file.read_text("utf-8")
    if file.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.lineno, node.value.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@cache
def is_there(path: str) -> bool:
    """Whether a file or folder is there; `NAME` in a path stands for any name."""
    return any(ROOT.glob(PLACEHOLDER.sub("*", path)))


@cache
def is_module(name: str) -> bool:
    """Whether a dotted name leads to a module or package, or to a name that a module has."""
    parts = name.split(".")
    folder = ROOT.joinpath(*parts)
    if folder.is_dir() or folder.with_suffix(".py").is_file():
        return True
    while len(parts) > 1:
        *parts, wanted = parts
        for file in (ROOT.joinpath(*parts).with_suffix(".py"), ROOT.joinpath(*parts, "__init__.py")):
            if file.is_file():
                return re.search(rf"\b{wanted}\b", file.read_text("utf-8")) is not None
    return False


@cache
def file_names() -> frozenset[str]:
    return frozenset(file.name for room in ROOMS for file in (ROOT / room).rglob("*.*"))


def missing(text: str) -> list[str]:
    bare = [name for name in BARE.findall(text) if not PLACEHOLDER.search(name) and name not in file_names()]
    paths = [path for path in PATH.findall(text) if not is_there(path.rstrip("/"))]
    return bare + paths + [name for name in MODULE.findall(text) if not is_module(name)]


def test_every_file_and_module_that_is_named_is_there() -> None:
    found = {
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in documents()
        # Few files name what isn't there, and if so mostly in code: only those are taken apart.
        if missing(file.read_text("utf-8"))
        for line, text in prose(file)
        for name in missing(text)
    }
    assert sorted(found) == []


@pytest.mark.parametrize(
    "text",
    [
        "see `harness/spec/load.py`",
        "harness.execution has it",
        "`harness.core.model.Evnet`",
        "tests/none",
        "`nowhere.py` has it",
    ],
)
def test_what_is_not_there_is_found(text: str) -> None:
    assert missing(text)


@pytest.mark.parametrize(
    "text",
    [
        "`harness/core/model.py`",
        "harness.core.model.Event",
        "harness/cluster/*.py",
        "spark_reports/NAME/",
        "a harness.",
    ],
)
def test_what_is_there_is_not(text: str) -> None:
    assert missing(text) == []
