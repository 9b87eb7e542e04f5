"""What a user may say of a night: the profile, and what is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness import nightly
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.nightly.generator import scenario_of
from rocketchaos.harness.nightly.known import read_known
from rocketchaos.harness.nightly.profile import Profile, read_profile
from rocketchaos.harness.reference import nightly_reference as reference
from rocketchaos.harness.steps.base import every_step
from rocketchaos.harness.steps.send import Send


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("dimensions: {memebers: {'2': 1}}", "did you mean `members`"),
        ("dimensions: {members: {'9': 1}}", "there is no word of `members` `9`"),
        ("dimensions: {members: {'2': 0}}", "nothing is left of `members`"),
        ("operations: {kil: 1}", "did you mean `kill`"),
        ("triggers: {flow: 0}", "nothing is left of `triggers`"),
        ("consistent: yes", "consistent"),
        ("longest: 30", "duration needs a number and a unit"),
        ("wrong: 1", "wrong"),
        ("[", "profile.yaml:1:"),
        ("- operations", "a profile is a mapping"),
        ("operations: {0: 1}", "a key must be text"),
        ("operations: {kill: 1}\noperations: {stop: 1}", "the key `operations` is already in line 1"),
        ("operations: {kill: .nan}", "operations.kill"),
        ("operations: {kill: " + "9" * 5000 + "}", "this number is too long"),
        ("longest: 2026-13-45", "longest"),
        ("operations: " + "[" * 2000, "levels deep"),
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


def test_the_former_words_of_profiles_are_understood(tmp_path: Path) -> None:
    former = "acts: {kill: 1}\nanchors: {flow: 1}\ndimensions: {acts: {'1': 1}, mind: {own: 1}}\n"
    today = (
        "operations: {kill: 1}\ntriggers: {flow: 1}\n"
        "dimensions: {operations: {'1': 1}, subscriptions: {own: 1}}\n"
    )
    profiles = []
    for name, text in (("former.yaml", former), ("today.yaml", today)):
        (tmp_path / name).write_text(text)
        profiles.append(read_profile(tmp_path / name))
    assert profiles[0] == profiles[1]
    assert profiles[0].operations == {"kill": 1}


def test_a_word_and_its_former_one_are_not_both_said(tmp_path: Path) -> None:
    (tmp_path / "both.yaml").write_text("acts: {kill: 1}\noperations: {stop: 1}\n")
    with pytest.raises(UsageProblem, match="acts"):
        read_profile(tmp_path / "both.yaml")


SERVICE = """\
service:
  group: billing
  subscribe: {orders: paid || refunded, returns: '*'}
  app: {jar: target/billing.jar, args: [$nameserver]}
  body: fixtures/order.json
"""


def test_each_member_of_a_night_is_an_instance_of_the_user_s_service(tmp_path: Path) -> None:
    (tmp_path / "night.yaml").write_text(SERVICE)
    profile = read_profile(tmp_path / "night.yaml")
    sent, words = set[str](), set[str]()
    for number in range(60):
        scenario = scenario_of(7, number, profile)
        assert scenario.file == str(tmp_path / f"nightly-7-{number}.scenario.yaml")
        assert set(scenario.topics) == {"orders", "returns"}
        for consumer in scenario.consumers.values():
            assert consumer.group == "billing"
            assert consumer.app is not None
            assert consumer.app.jar == "target/billing.jar"
        for step in every_step(scenario.steps):
            words.add(step.word)
            if isinstance(step, Send):
                assert step.body == "fixtures/order.json"
                sent |= {tag for tag in (step.tag, *(step.tags or ())) if tag is not None}
    assert {"paid", "refunded"} <= sent
    assert {"kill", "stop", "pause"} <= words
    assert not words & {"subscribe", "unsubscribe", "partition"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("group: billing", "groups: billing", "service.group: Field required"),
        ("jar:", "jarr:", "jarr"),
        ("{orders: paid || refunded, returns: '*'}", "{}", "subscribe"),
        ("  subscribe: {orders: paid || refunded, returns: '*'}\n", "", "`subscribe` names no topic"),
        ("app: {jar: target/billing.jar, args: [$nameserver]}", "app: {}", "app"),
        (
            "jar: target/billing.jar, args: [$nameserver]",
            "command: [./billing]",
            "nothing shows which messages",
        ),
    ],
)
def test_a_broken_service_is_one_message(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "night.yaml").write_text(SERVICE.replace(old, new))
    with pytest.raises(UsageProblem, match=message):
        read_profile(tmp_path / "night.yaml")
