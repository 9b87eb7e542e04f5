from __future__ import annotations

import pytest

from rocketchaos.harness.workers.child.receipt_handle import place_of


def test_it_tells_where_the_message_was_popped_from() -> None:
    assert place_of("0 1795287432367 15000 0 0 broker-a 2 7 293") == ("broker-a", 2, 7)


@pytest.mark.parametrize("handle", [None, "", "opaque", "0 1 2 3 4 broker-a two 7 293"])
def test_one_of_another_form_tells_nothing(handle: str | None) -> None:
    assert place_of(handle) == (None, None, None)
