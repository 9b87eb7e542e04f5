"""How long scenarios are expected to take, and how a night learns it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.nightly.document import text_of
from rocketchaos.harness.nightly.duration import expected_s
from rocketchaos.harness.nightly.generator import draw
from rocketchaos.harness.nightly.pace import ENOUGH, UNKNOWN, Pace, Took, budget_s, kind_of, read_history
from rocketchaos.harness.nightly.profile import Profile
from rocketchaos.harness.nightly.status import StatusFile
from rocketchaos.harness.nightly.summary import summary_of
from rocketchaos.harness.scenario import parse_scenario
from tests.unit.nightly.nights import SHORT, TAKES_S, FakeRunner, always, night_of, played
from tests.unit.nightly.stories import quiet


def test_orderly_members_and_touched_brokers_are_expected_to_take_longer() -> None:
    plain = text_of(draw(7, 1, SHORT)).replace(", listener: orderly", "")
    orderly = plain.replace("group: g1,", "group: g1, listener: orderly,")
    touched = plain.replace("  - settle: {sealed", "  - restart: broker-a\n  - settle: {sealed", 1)
    lengths = [expected_s(parse_scenario(text, "x")) for text in (plain, orderly, touched)]
    assert lengths[1] > lengths[0] + 15
    assert lengths[2] > lengths[0] + 25


def test_the_pace_is_learnt_by_kind() -> None:
    pace = Pace()
    assert pace.factor("slow") == UNKNOWN
    before = pace.needs_s("slow", 10.0)
    pace.learn("slow", 10.0, 40.0)
    assert pace.needs_s("slow", 10.0) == 2 * before
    for _ in range(ENOUGH):
        pace.learn("quick", 10.0, 10.0)
    assert pace.factor("quick") == 1.0
    assert pace.factor("slow") == pace.factor("unheard of")  # one of a kind doesn't speak for itself
    assert 1.0 < pace.factor("slow") < 4.0


def test_kinds_are_told_apart_by_what_makes_them_slow() -> None:
    kinds = {kind_of(parse_scenario(text_of(draw(7, number, Profile())), "x")) for number in range(1, 40)}
    assert len(kinds) > 3
    assert any(kind.startswith("own cluster, ") for kind in kinds)
    assert any(kind.endswith(", orderly") for kind in kinds)


def test_a_night_goes_on_from_the_pace_of_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "nightly-status.json"
    endless = '{"pace": {"slow": {"runs": Infinity, "expected_s": 1, "took_s": 1}}}'
    for text in ("{", "[]", '{"pace": "fast"}', '{"pace": {"slow": {"runs": 1}}}', endless):
        file.write_text(text)
        assert StatusFile(tmp_path).history == {}
        with pytest.raises(UsageProblem, match="tells nothing of how long scenarios take"):
            read_history(file)
    night = night_of((quiet(), None))
    night.pace = Pace({"slow": Took(40, 400.0, 1600.0)})
    StatusFile(tmp_path).write(summary_of(night, frozenset()), [], ended=True)
    before = StatusFile(tmp_path).history
    pace = Pace(before)
    assert pace.factor("slow") == 4.0
    for _ in range(10):  # what was long ago counts as ten at most
        pace.learn("slow", 10.0, 10.0)
    assert pace.factor("slow") == 2.5
    assert budget_s(before, "slow", 10.0) == 40.0


def test_what_failed_says_nothing_of_how_long_scenarios_take() -> None:
    troubles = {1: Trouble.ENVIRONMENT, 2: Trouble.ENVIRONMENT, 3: Trouble.PRECONDITION}
    night = played(FakeRunner(always(quiet()), troubles.get))
    assert sum(took.runs for took in night.pace.known.values()) == len(night.runs) - 2
    again = played(FakeRunner(always(quiet()), {1: Trouble.ENVIRONMENT}.get), minutes=1.0)
    (first, *_others) = again.pace.known.values()
    assert again.runs[0].tries == 2
    assert first.took_s == first.runs * TAKES_S  # of the try that ended, not of both
