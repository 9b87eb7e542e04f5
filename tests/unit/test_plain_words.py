"""The lint of words: what it reads, what it finds, and that it can fail."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "plain_words.py"

RULES = """
read = [".py", ".md"]
leave = ["tests/"]

[[turns]]
turn = '\\bunless told\\b'
say = "name the default"
right_in = ['nobody knows unless told so']
"""


@pytest.fixture(scope="module")
def lint() -> ModuleType:
    spec = importlib.util.spec_from_file_location("plain_words", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["plain_words"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "source", "line"),
    [
        ("a.md", "Fine.\n4 unless\ntold.", 2),
        ("a.yaml", "title: x\n# 4 unless\n# told", 2),
        ("a.py", '"""Fine.\n\n4 unless told.\n"""', 3),
        ("a.py", 'x = 1\ny = "4 unless " "told"', 2),
        ("a.py", 'x = 1\ny = f"{x} Unless told"', 2),
    ],
)
def test_a_turn_is_found_at_its_line(lint: ModuleType, name: str, source: str, line: int) -> None:
    found = list(lint.findings(name, source, lint.rules_of(RULES)))
    assert [finding.lower() for finding in found] == [f"{name}:{line}: “unless told”: name the default"]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.py", "unless_told = 1  # unless told"),
        ("a.md", "Nobody knows unless told so."),
        ("a.md", "Default 4."),
    ],
)
def test_code_and_phrases_in_which_it_is_right_pass(lint: ModuleType, name: str, source: str) -> None:
    assert list(lint.findings(name, source, lint.rules_of(RULES))) == []


def test_a_phrase_excuses_no_other_place(lint: ModuleType) -> None:
    text = "Nobody knows unless told so.\n4 unless told."
    assert [each.split(":")[1] for each in lint.findings("a.md", text, lint.rules_of(RULES))] == ["2"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# What brokers keep is here", True),
        ("Fine\n- **What brokers keep is** here", True),
        ("Fine\n1. What brokers\nkeep", False),
        ("Fine\n1. What brokers keep is here\n\n| a | b |", True),
        ('x\nwait: {because: "what comes back is late"}', True),
        ("| What comes back is lost. |", True),
        ("| What is wrong in our cluster? | what it is |", False),
        ("## What brokers keep: is it here?", False),
    ],
)
def test_a_subject_clause_is_found_in_headings_lists_and_tables(
    lint: ModuleType, text: str, found: bool
) -> None:
    rules = lint.rules_of(lint.RULES.read_text("utf-8"))
    assert bool(list(lint.findings("a.md", text, rules))) == found


@pytest.mark.parametrize(
    "name",
    [
        "CITATION.cff",
        "pyproject.toml",
        ".github/ISSUE_TEMPLATE/bug.yml",
        "docker/testcontainers_rocketmq/docs/community/rocketmq.rst",
        "docker/harness/Dockerfile",
        ".ci/run",
    ],
)
def test_every_kind_of_text_is_read(lint: ModuleType, name: str) -> None:
    assert (lint.ROOT / name).is_file()
    assert lint.rules_of(lint.RULES.read_text("utf-8")).concern(name)


def test_it_reads_what_the_rules_name(lint: ModuleType) -> None:
    rules = lint.rules_of(RULES)
    assert rules.concern("docs/a.md")
    assert not rules.concern("tests/a.md")
    assert not rules.concern("docs/a.png")


@pytest.mark.parametrize(
    "broken", ["turns = 1", "read = []\nleave = []\n[[turns]]\nturn = '('\nsay = ''", "="]
)
def test_rules_that_can_not_be_read_are_an_error(lint: ModuleType, broken: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        lint.rules_of(broken)


def test_the_exit_code_says_whether_there_are_turns(
    lint: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("Default 4.\n", encoding="utf-8")
    assert lint.main([str(page)]) == 0
    page.write_text("It goes on\nand on.\n", encoding="utf-8")
    assert lint.main([str(page)]) == 1
    assert f"{page}:1: “on and on”: " in capsys.readouterr().out
