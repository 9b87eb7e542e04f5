"""The search for the first version that answers differently, over histories that are made up."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketchaos.harness.plan.bisect import Ending, History, apart, search

A, B, C = "reproduced", "not-reproduced", "inconclusive"


class Asked:
    """Answers for every version by its chances, and notes how often each was asked."""

    def __init__(self, chances: Mapping[str, Mapping[str, float]], seed: int = 7) -> None:
        self.times: Counter[str] = Counter()
        self.rounds = 0
        self._chances = chances
        self._random = random.Random(seed)

    def play(
        self, *, repeat: int = 4, at_a_time: int = 1, ask_all: bool = False, ends_suffice: bool = False
    ) -> History:
        running = search(
            list(self._chances),
            repeat=repeat,
            at_a_time=at_a_time,
            ask_all=ask_all,
            ends_suffice=ends_suffice,
        )
        ask = next(running)
        while True:
            self.rounds += 1
            answers = {}
            for version, times in ask:
                self.times[version] += times
                chances = self._chances[version]
                drawn = self._random.choices(list(chances) or [""], list(chances.values()) or [1], k=times)
                answers[version] = Counter(drawn if chances else [])
            try:
                ask = running.send(answers)
            except StopIteration as end:
                return end.value


def certain(words: Sequence[str]) -> dict[str, dict[str, float]]:
    """A history in which each version always gives its word; none where that is empty."""
    return {f"v{number}": {word: 1.0} if word else {} for number, word in enumerate(words)}


@given(st.integers(2, 40), st.data())
def test_the_first_that_differs_is_found_in_few_questions(count: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, count - 1))
    at_a_time = data.draw(st.integers(1, 4))
    asked = Asked(certain([A] * first + [B] * (count - first)))
    found = asked.play(at_a_time=at_a_time)
    assert found.ending is Ending.FOUND
    assert [(change.before, change.first, change.between) for change in found.changes] == [
        (f"v{first - 1}", f"v{first}", ())
    ]
    assert set(asked.times.values()) == {4}
    if at_a_time == 1:
        assert len(asked.times) <= 2 + count.bit_length() + 2


@given(st.lists(st.sampled_from([A, B, C]), min_size=2, max_size=20))
def test_ask_all_tells_every_change(words: list[str]) -> None:
    found = Asked(certain(words)).play(ask_all=True)
    changed = [f"v{at}" for at in range(1, len(words)) if words[at] != words[at - 1]]
    assert [change.first for change in found.changes] == changed
    assert found.ending is {0: Ending.ALIKE, 1: Ending.FOUND}.get(len(changed), Ending.SEVERAL)


@given(st.lists(st.sampled_from([A, B, C, ""]), min_size=2, max_size=20), st.integers(1, 4))
def test_what_is_reported_is_what_was_answered(words: list[str], at_a_time: int) -> None:
    """Whatever the history: a change is one that the answers show, and what lies between says so."""
    asked = Asked(certain(words))
    found = asked.play(at_a_time=at_a_time)
    assert list(found.answers) == sorted(found.answers, key=lambda answer: int(answer[1:]))
    assert set(found.answers) == set(asked.times)
    for change in found.changes:
        before, first = int(change.before[1:]), int(change.first[1:])
        assert words[before] != words[first]
        assert change.between == tuple(f"v{item}" for item in range(before + 1, first))
        if found.ending is Ending.SEVERAL:
            assert not any(words[before + 1 : first])
    if words[0] and words[-1] and words[0] == words[-1] and len(set(words) - {""}) > 1:
        assert found.ending is Ending.SEVERAL
    if len(set(words) - {""}) < 2:
        assert found.ending in (Ending.ALIKE, Ending.UNDECIDED)


@pytest.mark.parametrize(
    ("words", "first"),
    [([A, A, "", "", B, B], ("v1", "v4", ("v2", "v3"))), ([A, "", B], ("v0", "v2", ("v1",)))],
)
def test_versions_that_say_nothing_are_named_between(
    words: list[str], first: tuple[str, str, object]
) -> None:
    found = Asked(certain(words)).play()
    assert found.ending is Ending.FOUND
    assert [(change.before, change.first, change.between) for change in found.changes] == [first]


def test_a_version_that_answers_as_neither_has_all_of_them_asked() -> None:
    asked = Asked(certain([A, A, A, A, C, B, B, B, B]))
    found = asked.play()
    assert found.ending is Ending.SEVERAL
    assert [change.first for change in found.changes] == ["v4", "v5"]
    assert len(asked.times) == 9


def test_a_stretch_that_the_halving_passes_over_is_looked_into() -> None:
    """B for a while among the old ones: the halves alone would never see it."""
    words = [A] * 6 + [B] * 5 + [A] * 13 + [B] * 8
    assert Asked(certain(words)).play().ending is Ending.SEVERAL


@given(st.integers(3, 16), st.integers(0, 10**6), st.data())
def test_noise_is_never_taken_for_more_than_it_is(count: int, seed: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, count - 1))
    p, q = data.draw(st.sampled_from([(0.95, 0.05), (1.0, 0.5), (0.7, 0.2), (0.5, 0.5)]))
    history = {f"v{n}": {A: p if n < first else q, B: 1 - (p if n < first else q)} for n in range(count)}
    asked = Asked(history, seed)
    found = asked.play()
    assert max(asked.times.values()) <= 20
    for change in found.changes:
        assert apart(found.answers[change.before], found.answers[change.first])


@pytest.mark.parametrize(("p", "q", "right"), [(0.95, 0.05, 0.9), (1.0, 0.3, 0.75), (0.9, 0.1, 0.85)])
def test_how_often_a_racing_history_is_recognised(p: float, q: float, right: float) -> None:
    """Seeds are fixed, so that this is no race itself; a change that is told with what lies between is right."""
    text, wrong = 0, 0
    for seed in range(200):
        first = 1 + seed % 14
        history = {f"v{n}": {A: p if n < first else q, B: 1 - (p if n < first else q)} for n in range(15)}
        found = Asked(history, seed).play()
        if found.ending is Ending.FOUND:
            (change,) = found.changes
            holds = int(change.before[1:]) < first <= int(change.first[1:])
            text, wrong = text + holds, wrong + (not holds)
    assert text >= right * 200
    assert wrong <= 8


def test_the_same_race_everywhere_ends_undecided_or_alike() -> None:
    endings = Counter(
        Asked({f"v{n}": {A: 0.5, B: 0.5} for n in range(15)}, seed).play().ending for seed in range(100)
    )
    assert endings[Ending.UNDECIDED] + endings[Ending.ALIKE] >= 90


def test_nobody_who_says_anything_leaves_it_undecided() -> None:
    assert Asked(certain(["", "", ""])).play().ending is Ending.UNDECIDED
    assert Asked(certain([A, ""])).play().ending is Ending.UNDECIDED


def test_fewer_repeats_are_repeated_until_they_tell() -> None:
    asked = Asked(certain([A, A, B]))
    assert asked.play(repeat=1).ending is Ending.FOUND
    assert max(asked.times.values()) <= 6


def test_ends_that_answer_alike_may_suffice() -> None:
    asked = Asked(certain([A, B, B, A]))
    assert asked.play(ends_suffice=True).ending is Ending.ALIKE
    assert set(asked.times) == {"v0", "v3"}
