"""`several-owners` and `offset-falls`: each holds, and doesn't, and can be unknown."""

from __future__ import annotations

import pytest

from rocketchaos.assertions.base import Answer
from rocketchaos.assertions.offset_falls import OffsetFalls
from rocketchaos.assertions.several_owners import SeveralOwners
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Holds
from tests.unit.nightly.stories import Story


def asked(check: OffsetFalls | SeveralOwners, story: Story) -> Answer:
    return check.evaluate(RunView(story.scenario, story.events))


def fallen(*offsets: int) -> Story:
    """What looks see of the first queue, one after the other."""
    story = Story().looks("*", 2.0)
    for second, offset in enumerate(offsets):
        story.at(3.0 + second).offsets("g", "orders", [(offset, 9), (0, 0)])
    return story.ends("*")


@pytest.mark.parametrize(
    ("offsets", "falls"),
    [((), None), ((0, 0), None), ((5,), 0), ((3, 5, 5), 0), ((5, 3, 4), 1), ((5, 3, 5, 4), 2)],
)
def test_falls_are_counted(offsets: tuple[int, ...], falls: int | None) -> None:
    story = fallen(*offsets)
    answers = [asked(OffsetFalls(group="g", topic="orders", count=number), story) for number in range(3)]
    assert [answer.holds for answer in answers] == [
        Holds.UNKNOWN if falls is None else Holds.YES if number == falls else Holds.NO for number in range(3)
    ]


def test_a_fall_is_reported_with_its_looks() -> None:
    answer = asked(OffsetFalls(group="g", at_least=1), fallen(5, 3))
    assert "1 falls in 2 looks: broker-a:0 of orders from 5 to 3" in answer.observed
    assert len(answer.events) == 2


def test_falls_of_another_topic_do_not_count() -> None:
    assert asked(OffsetFalls(group="g", topic="bills", count=0), fallen(5, 3)).holds is Holds.UNKNOWN


def owned(a: list[int], b: list[int] | None) -> Story:
    story = Story()
    story.owns(story.scenario, "a", "orders", a, moment="end")
    if b is not None:
        story.owns(story.scenario, "b", "orders", b, moment="end")
    story.add("harness", "moment-observed", moment="end")
    return story


@pytest.mark.parametrize(("b", "several"), [([1], 0), ([], 0), ([0], 1), ([0, 1], 1), (None, None)])
def test_queues_with_several_owners_are_counted(b: list[int] | None, several: int | None) -> None:
    story = owned([0], b)
    answers = [asked(SeveralOwners(group="g", topic="orders", count=number), story) for number in range(2)]
    assert [answer.holds for answer in answers] == [
        Holds.UNKNOWN if several is None else Holds.YES if number == several else Holds.NO
        for number in range(2)
    ]


def test_owners_are_named() -> None:
    answer = asked(SeveralOwners(group="g", topic="orders", at_least=1), owned([0], [0]))
    assert "1 of 1 owned: broker-a:0 by a and b" in answer.observed


def test_queues_to_whose_topic_nobody_subscribes_have_no_owners_to_count() -> None:
    answer = asked(SeveralOwners(group="g", topic="bills", count=0), owned([0], [1]))
    assert (answer.holds, answer.observed) == (Holds.UNKNOWN, "no member of g subscribes to bills")
