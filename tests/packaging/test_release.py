"""A release says the same version everywhere: package, change log, citation."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

import rocketchaos

ROOT = Path(__file__).resolve().parents[2]


def test_change_log_and_citation_have_the_version_of_the_package() -> None:
    log = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.findall(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", log, re.MULTILINE)[0]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))

    assert newest == (rocketchaos.__version__, str(citation["date-released"]))
    assert citation["version"] == rocketchaos.__version__


def test_the_change_log_keeps_the_form() -> None:
    log = (ROOT / "CHANGELOG.md").read_text("utf-8")

    assert log.count("\n## Unreleased\n") == 1
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", log, re.MULTILINE)) <= kinds
