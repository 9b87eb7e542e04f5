"""Every number of every check, at 0, at its extremes and between, against a plain evaluation of the history."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketchaos.assertions import CHECKS, Check
from rocketchaos.assertions.implied import implies
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.model import Event, Holds
from tests.unit.assertions.number_keys import KEYS, LIMITS, Key, least_of, made
from tests.unit.assertions.plain_reference import REFERENCE
from tests.unit.assertions.random_runs import FACTS, RICH, SCENARIO, Facts, events_of

LONGEST_MS = 999_999_999 * 3_600_000
NUMBERS = (0, 1, 2, 3, 4, 5, 17, 2**31 - 1, 2**63)
TIMES_MS = (0, 1, 2, 19, 20, 21, 899, 900, 901, 999, 1000, 1001, 4000, 5001, LONGEST_MS)
PER_CENT = (1, 17, 33, 34, 50, 66, 67, 99, 100)
SHARES = (0.0, 0.01, 0.2, 0.5, 0.8, 0.99, 1.0)
SEVERAL = ([], [0], [1, 3], [0, 1], [0, 1, 3], [0, 1, 2, 3])
SLOWLY = settings(max_examples=settings().max_examples // 4)


def values(key: Key) -> tuple[Any, ...]:
    """What a key is set to."""
    if key.many:
        return SEVERAL
    if key.name == "percentile":
        return PER_CENT
    return SHARES if key.fraction else TIMES_MS if key.duration else NUMBERS


def holds(check: Check, events: list[Event]) -> Holds:
    return check.evaluate(RunView(SCENARIO, events)).holds


def drawn(data: st.DataObject) -> list[Event]:
    """A random run; drawn once it is known that there is something to ask of it."""
    return list(events_of(data.draw(FACTS)))


def expected(check: Check, events: list[Event]) -> bool | None:
    stated = {
        name: list(item) if isinstance(item, tuple) else item for name, item in check if item is not None
    }
    return REFERENCE[check.word](events, stated)


def facts_for(key: Key) -> Facts:
    """The rich run; for `dropped` one in which somebody is dropped."""
    return replace(RICH, dropped_after_ms=900) if key.word == "dropped" else RICH


IDS = [f"{key.word} {key.name}" for key in KEYS]


def test_every_check_with_a_number_has_a_plain_reference() -> None:
    words = {key.word for key in KEYS}
    assert words == set(REFERENCE), "evaluate the new check plainly in plain_reference.py"
    assert words <= set(CHECKS)


@pytest.mark.parametrize("key", KEYS, ids=IDS)
def test_a_number_means_the_same_at_zero_at_its_extremes_and_between(key: Key) -> None:
    events = list(events_of(facts_for(key)))
    seen = set()
    for value in values(key):
        check = made(key, value)
        if check is not None:
            found, truth = holds(check, events), expected(check, events)
            seen.add(found)
            assert found is (Holds.UNKNOWN if truth is None else Holds.YES if truth else Holds.NO), check
    decisive = {Holds.YES, Holds.UNKNOWN if (key.word, key.name) == ("log-lapse", "times") else Holds.NO}
    assert decisive <= seen, "the rich run of random_runs.py must let it hold, and fail"


@pytest.mark.parametrize("key", KEYS, ids=IDS)
@SLOWLY
@given(data=st.data())
def test_in_a_random_run_a_number_means_what_it_says(key: Key, data: st.DataObject) -> None:
    check = made(key, data.draw(st.sampled_from(values(key))))
    if check is None:
        return
    events = drawn(data)
    found = holds(check, events)
    if found is not Holds.UNKNOWN:
        assert expected(check, events) is (found is Holds.YES)


@pytest.mark.parametrize("most", LIMITS, ids=[f"{key.word} {key.name}" for key in LIMITS])
@SLOWLY
@given(data=st.data())
def test_at_most_n_and_at_least_more_never_hold_together(most: Key, data: st.DataObject) -> None:
    number = data.draw(st.sampled_from(values(most)))
    below, above = made(most, number), made(least_of(most), number + (0.01 if most.fraction else 1))
    if below is not None and above is not None:
        events = drawn(data)
        assert (holds(below, events), holds(above, events)) != (Holds.YES, Holds.YES)


@pytest.mark.parametrize(
    "key", [key for key in KEYS if not key.many], ids=lambda key: f"{key.word} {key.name}"
)
@SLOWLY
@given(data=st.data())
def test_a_stricter_statement_never_holds_where_a_laxer_one_fails(key: Key, data: st.DataObject) -> None:
    own = [item for item in KEYS if item.word == key.word and not item.many]
    chosen = st.tuples(st.sampled_from(own), st.integers(0, 8))
    strict = made(key, data.draw(st.sampled_from(values(key))))
    other, index = data.draw(chosen)
    lax = made(other, values(other)[index % len(values(other))])
    if strict is not None and lax is not None and implies(strict, lax):
        events = drawn(data)
        assert holds(strict, events) is not Holds.YES or holds(lax, events) is not Holds.NO
