"""What documents show is what happens: transcripts, scenarios and tests of the guides, on a real RocketMQ."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embedded.command import CODE, ROOT
from tests.embedded.small_scenario import RunScenario

pytestmark = [pytest.mark.embedded, pytest.mark.extended, pytest.mark.usefixtures("on_shared_cluster")]

BLOCK = re.compile(r"^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
LIMIT_S = 240


def blocks(document: str, kind: str) -> list[str]:
    text = (ROOT / document).read_text("utf-8")
    return [found["text"] for found in BLOCK.finditer(text) if found["kind"] == kind]


def transcript(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command with the lines that it is said to print; `…` stands for lines that are left out."""
    parts = re.split(r"^\$ ", text, flags=re.M)
    for part in parts[1:]:
        command, *lines = part.splitlines()
        yield command, [line for line in lines if line not in ("", "…")]


def lines_of(output: str) -> list[str]:
    """Lines without what differs from run to run: figures, and the width of lines of `=`."""
    return [re.sub(r"=+", "=", NUMBER.sub("N", line)).rstrip() for line in output.splitlines()]


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of a shell, with the `rocketchaos` and the `pytest` of this checkout."""
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    python = f"{shlex.quote(sys.executable)} -P"
    for name, run in (
        ("rocketchaos", f"-c {shlex.quote(CODE)}"),
        ("pytest", "-m pytest -p no:cacheprovider"),
    ):
        (tools / name).write_text(f'#!/bin/sh\nexec {python} {run} "$@"\n')
        (tools / name).chmod(0o755)
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COLUMNS"))
    }
    environment |= {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_get_started_is_what_happens(tmp_path: Path) -> None:
    folder = tmp_path / "anywhere"
    folder.mkdir()
    done = []
    for found in BLOCK.finditer((ROOT / "docs" / "get-started.md").read_text("utf-8")):
        if found["title"]:
            (folder / found["title"]).write_text(found["text"])
        if found["kind"] != "console":
            continue
        for command, said in transcript(found["text"]):
            ended = shell(command, folder)
            printed = lines_of(ended.stdout)
            assert ended.returncode == 0, (command, ended.stdout, ended.stderr)
            missing = [line for line in said if lines_of(line)[0] not in printed]
            assert missing == [], (command, ended.stdout)
            done.append(command.split()[0])
    assert done.count("rocketchaos") >= 6
    assert "pytest" in done


def test_a_transcript_that_says_something_else_is_noticed() -> None:
    ((command, said),) = transcript("$ rocketchaos list\n…\nREPRODUCED  5.0 s\n")
    assert (command, lines_of(said[0])) == ("rocketchaos list", ["REPRODUCED  N s"])
    assert lines_of("REPRODUCED  12 s\n= 2 passed ==\n") == ["REPRODUCED  N s", "= N passed ="]


@pytest.mark.parametrize("document", ["README.md", "docs/guides/scenarios.md"])
def test_a_scenario_of_a_guide_ends_as_expected(document: str, run_scenario: RunScenario) -> None:
    (text,) = [block for block in blocks(document, "yaml") if block.startswith("name: ")]
    run = run_scenario(text)
    assert (run["outcome"], run["as_expected"]) == ("reproduced", True), run


@pytest.mark.parametrize("document", ["README.md", "docs/guides/pytest.md"])
def test_a_test_of_a_guide_passes(document: str, tmp_path: Path) -> None:
    (text,) = blocks(document, "python")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "test_guide.py").write_text(text)
    ended = shell("pytest -q test_guide.py", tmp_path / "work")
    assert "1 passed" in ended.stdout, ended.stdout + ended.stderr
