"""`batch`: what it can't say; that it holds and fails is in the tests of all numbers, and in a golden run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from rocketchaos.assertions.batch import Batch
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import Received
from rocketchaos.harness.core.model import Holds
from tests.unit.history_builder import eight_messages


def test_where_no_client_tells_the_number_it_is_unknown() -> None:
    answer = Batch(to="g", at_most=1).evaluate(RunView(*eight_messages()))
    assert (answer.holds, answer.observed) == (
        Holds.UNKNOWN,
        "the clients don't tell how many came at once",
    )


@pytest.mark.parametrize(("stated", "holds"), [({"at_most": 1}, Holds.NO), ({"at_least": 2}, Holds.YES)])
def test_the_largest_one_counts(stated: dict[str, int], holds: Holds) -> None:
    scenario, events = eight_messages()
    sizes = iter([1, 2, 2, 1, 1, 1, 1, 1])
    told = [
        replace(event, data={**event.data, "batch": next(sizes)}) if event.kind == Received.kind else event
        for event in events
    ]
    answer = Batch(to="g", **stated).evaluate(RunView(scenario, told))
    assert answer.holds is holds
    assert answer.observed.endswith("in batches of 1 to 2")
    assert len(answer.events) == 2


def test_no_call_without_a_message() -> None:
    with pytest.raises(ValidationError, match="each call gets a message"):
        Batch(to="g", count=0)
