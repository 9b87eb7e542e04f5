"""Who looks after a scenario, by the `CODEOWNERS` of its checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.engine.code_owners import PLACES, code_owner_of

RULES = """\
# Everything else is the platform's.
*                       @acme/platform
/chaos/                 @acme/chaos @ann  # and not @bob
/chaos/pay*/            @acme/payments
/chaos/[unclosed        @acme/nobody
/chaos/old/
[A section][2] @acme/section
"""


def checkout(folder: Path, place: str = "CODEOWNERS", rules: str = RULES) -> Path:
    (folder / ".git").mkdir(parents=True)
    file = folder / place
    file.parent.mkdir(exist_ok=True)
    file.write_text(rules)
    return folder


@pytest.mark.parametrize(
    ("file", "owner"),
    [
        ("x.scenario.yaml", "@acme/platform"),
        ("chaos/x.scenario.yaml", "@acme/chaos, @ann"),
        ("chaos/pay-out/deep/x.scenario.yaml", "@acme/payments"),
        ("chaos/old/x.scenario.yaml", None),
        ("S", "@acme/platform"),
    ],
)
def test_the_last_rule_that_fits_counts(tmp_path: Path, file: str, owner: str | None) -> None:
    assert code_owner_of(str(checkout(tmp_path) / file)) == owner


@pytest.mark.parametrize("place", PLACES)
def test_the_file_is_where_github_and_gitlab_have_it(tmp_path: Path, place: str) -> None:
    assert code_owner_of(str(checkout(tmp_path, place) / "x.yaml")) == "@acme/platform"


def test_a_path_is_seen_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout(tmp_path))
    assert code_owner_of("chaos/x.scenario.yaml") == "@acme/chaos, @ann"


def test_a_worktree_has_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / "CODEOWNERS").write_text("* ann@example.org\n")
    assert code_owner_of(str(tmp_path / "x.yaml")) == "ann@example.org"


def test_only_the_checkout_of_the_file_is_asked(tmp_path: Path) -> None:
    checkout(tmp_path)
    (tmp_path / "inner" / ".git").mkdir(parents=True)
    assert code_owner_of(str(tmp_path / "inner" / "x.yaml")) is None


def test_without_a_checkout_there_is_no_owner(tmp_path: Path) -> None:
    (tmp_path / "CODEOWNERS").write_text("* @acme/platform\n")
    assert code_owner_of(str(tmp_path / "x.yaml")) is None


def test_a_file_that_cannot_be_read_names_nobody(tmp_path: Path) -> None:
    (checkout(tmp_path) / "CODEOWNERS").write_bytes(b"* @acme/\xff\n")
    assert code_owner_of(str(tmp_path / "x.yaml")) is None
