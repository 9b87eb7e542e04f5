"""The page of codes is the one that its registries make, and has a way on from every exit code."""

from __future__ import annotations

from pathlib import Path

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.reference.codes import WHAT_TO_DO, codes_reference

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_is_what_the_registries_make() -> None:
    written = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    assert written == codes_reference(), "run: python -m rocketchaos.harness.reference.codes > docs/codes.md"


def test_every_exit_code_says_what_to_do() -> None:
    assert set(WHAT_TO_DO) == set(ExitCode)
    for code in ExitCode:
        assert f"| {int(code)} | {code.meaning} | {WHAT_TO_DO[code]} |" in codes_reference()
