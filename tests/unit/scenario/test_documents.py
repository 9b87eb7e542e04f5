"""Every block of YAML and of Python that a document shows is one that rocketchaos takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocketchaos.harness.nightly.profile import Profile, read_profile
from rocketchaos.harness.rocketmq.own_workers import read_manifest
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.scenario.model import Consumer, Scenario

ROOT = Path(__file__).resolve().parents[3]
GENERATED = {"LANGUAGE.md", "CATALOGUE.md", "CLAIMS.md"}
"""Their blocks are examples of words, which `tests/unit/language/test_word_examples.py` parses."""
BLOCK = re.compile(r"^ *```(?P<kind>yaml|python)\b[^\n]*\n(?P<text>.*?)^ *```$", re.M | re.S)
UNREAD = re.compile(r"^ *```(?!yaml|python|console|text|bash|$)\S.*$", re.M)

FRAME: dict[str, Any] = {
    "name": "fragment",
    "title": "What the document leaves out",
    "topics": {"orders": {"queues": 4}},
    "consumers": {"a": {"group": "g", "subscribe": {"orders": "*"}}},
    "anomaly": [{"undelivered": {"at_least": 1}}],
    "healthy": [{"delivered": {"to": "g", "count": 8}}],
}


def documents() -> list[Path]:
    found = [*ROOT.glob("*.md"), *ROOT.glob("scenarios/*.md")]
    for folder in ("docs", "examples", "docker", "spark_reports", "harness"):
        found += (ROOT / folder).rglob("*.md")
    return sorted(path for path in found if path.name not in GENERATED and "build" not in path.parts)


def blocks(kind: str) -> list[Any]:
    return list(_blocks(kind))


def _blocks(kind: str) -> Iterator[Any]:
    for path in documents():
        text = path.read_text("utf-8")
        for found in BLOCK.finditer(text):
            if found["kind"] == kind:
                line = text.count("\n", 0, found.start()) + 1
                yield pytest.param(found["text"], id=f"{path.relative_to(ROOT)}:{line}")


def completed(shown: Any) -> dict[str, Any]:
    """A whole scenario, of a part of one: what the part doesn't say comes from the frame."""
    if isinstance(shown, list):
        shown = {"steps": [{"start": "a"}, *shown]}
    elif not shown.keys() & Scenario.model_fields.keys():
        app = {"command": ["./service", "$nameserver"]}
        shown = {"app": app | shown} if "sees" in shown else shown
        assert shown.keys() <= Consumer.model_fields.keys(), shown
        shown = {"consumers": {"a": FRAME["consumers"]["a"] | shown}}
    whole = FRAME | shown
    groups = [each["group"] for each in whole["consumers"].values()]
    if "healthy" not in shown:
        whole["healthy"] = [{"delivered": {"to": groups[0], "count": 8}}]
    whole.setdefault("steps", [{"start": list(whole["consumers"])}])
    return whole


@pytest.mark.parametrize("text", blocks("yaml"))
def test_a_block_of_yaml_is_valid(text: str, tmp_path: Path) -> None:
    shown = yaml.safe_load(text)
    if isinstance(shown, dict) and "client" in shown:
        (tmp_path / "worker.yaml").write_text(text)
        program = tmp_path / shown["command"][0]
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        assert read_manifest(tmp_path).kind.name == shown["client"]
    elif isinstance(shown, dict) and shown.keys() <= Profile.model_fields.keys():
        (tmp_path / "profile.yaml").write_text(text)
        assert read_profile(tmp_path / "profile.yaml") != Profile()
    elif isinstance(shown, dict) and "name" in shown:
        assert parse_scenario(text, "document.yaml").name == shown["name"]
    else:
        whole = yaml.safe_dump(completed(shown), sort_keys=False)
        assert parse_scenario(whole, "document.yaml").name == "fragment"


@pytest.mark.parametrize(
    "part", ["sees: {lgo: x}", "- settel: {ownership: g}", "anomaly: [undelivered: {}, x: 1]"]
)
def test_a_slip_in_a_part_is_noticed(part: str) -> None:
    with pytest.raises(InvalidScenario):
        parse_scenario(yaml.safe_dump(completed(yaml.safe_load(part)), sort_keys=False), "document.yaml")


@pytest.mark.parametrize("text", blocks("python"))
def test_a_block_of_python_compiles(text: str) -> None:
    compile(text, "document.py", "exec")


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_block_has_a_kind_that_is_checked(path: Path) -> None:
    assert UNREAD.findall(path.read_text("utf-8")) == []
