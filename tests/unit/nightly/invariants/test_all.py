"""All invariants: none speaks where nothing was breached, or where nobody can know."""

from __future__ import annotations

import pytest

from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.nightly.invariants import INVARIANTS, Invariant
from tests.unit.nightly.stories import half_lost, quiet


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda item: item.kind)
def test_where_all_goes_well_none_says_anything(invariant: Invariant) -> None:
    assert quiet().breaches(invariant) == []


@pytest.mark.parametrize("trouble", list(Trouble))
def test_a_run_that_did_not_come_to_its_end_finds_nothing(trouble: Trouble) -> None:
    assert half_lost().found()
    assert half_lost().found(trouble) == []


def test_names_and_numbers_are_no_part_of_a_signature() -> None:
    (item,) = half_lost().found()
    (other,) = half_lost(a="{orders: tagC}", b="{orders: tagB || tagA}").found()
    assert item.signature == other.signature
    assert not any(name in item.signature for name in ("orders", "tagB", " g "))
