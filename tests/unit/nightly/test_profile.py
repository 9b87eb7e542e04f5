"""What a user may say of a night: the profile, and what is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness import nightly
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.nightly.known import read_known
from rocketchaos.harness.nightly.profile import Profile, read_profile
from rocketchaos.harness.reference import nightly_reference as reference


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("dimensions: {memebers: {'2': 1}}", "did you mean `members`"),
        ("dimensions: {members: {'9': 1}}", "there is no word of `members` `9`"),
        ("dimensions: {members: {'2': 0}}", "nothing is left of `members`"),
        ("acts: {kil: 1}", "did you mean `kill`"),
        ("anchors: {flow: 0}", "nothing is left of `anchors`"),
        ("consistent: yes", "consistent"),
        ("longest: 30", "duration needs a number and a unit"),
        ("wrong: 1", "wrong"),
        ("[", "profile.yaml:1:"),
        ("- acts", "a profile is a mapping"),
        ("acts: {0: 1}", "a key must be text"),
        ("acts: {kill: 1}\nacts: {stop: 1}", "the key `acts` is already in line 1"),
        ("acts: {kill: .nan}", "acts.kill"),
        ("acts: {kill: " + "9" * 5000 + "}", "this number is too long"),
        ("longest: 2026-13-45", "longest"),
        ("acts: " + "[" * 2000, "levels deep"),
    ],
)
def test_a_wrong_profile_is_one_message(tmp_path: Path, text: str, found: str) -> None:
    file = tmp_path / "profile.yaml"
    file.write_text(text)
    with pytest.raises(UsageProblem, match=found):
        read_profile(file)


def test_a_profile_that_says_nothing_is_the_usual_one(tmp_path: Path) -> None:
    file = tmp_path / "profile.yaml"
    file.write_text("# nothing\n")
    assert read_profile(file) == Profile()
    with pytest.raises(UsageProblem, match="can't be read"):
        read_profile(tmp_path / "none.yaml")


def test_known_findings_are_lines(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text("# ours\n\nlost: it is\n  stuck: so\n")
    assert read_known(file) == {"lost: it is", "stuck: so"}
    assert read_known(None) == frozenset()
    with pytest.raises(UsageProblem, match="can't be read"):
        read_known(tmp_path / "none.txt")


def test_the_reference_is_up_to_date() -> None:
    file = Path(nightly.__file__).with_name("README.md")
    assert file.read_text() == reference.reference(), (
        "python -m rocketchaos.harness.reference.nightly_reference > harness/nightly/README.md"
    )
