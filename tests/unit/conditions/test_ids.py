"""A condition is known by its id, and a trouble by its cause; what is told of them is for people."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.conditions import Awaited, Seen, await_condition
from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.run import Settled


class Context:
    def __init__(self) -> None:
        self.bodies: list[Settled] = []
        self.history = SimpleNamespace(append=lambda _node, body: self.bodies.append(body))

    def now_ns(self) -> int:
        return 0

    def check_alive(self) -> None:
        """All are."""


@pytest.mark.parametrize("title", ["ownership of g", "who owns what of g"])
def test_the_history_tells_which_condition_and_of_whom_whatever_the_title(title: str) -> None:
    context = Context()
    awaited = Awaited("ownership", "g", title)
    await_condition(cast(Any, context), awaited, lambda: Seen(True, "so it is"), 100)
    (body,) = context.bodies
    assert (body.kind, body.condition_id, body.subject) == ("settled", "ownership", "g")


@pytest.mark.parametrize("title", ["ownership of g", "who owns what of g"])
def test_a_limit_that_passes_has_a_cause_whatever_the_title(title: str) -> None:
    with pytest.raises(PreconditionNotMet, match=title) as raised:
        await_condition(cast(Any, Context()), Awaited("ownership", "g", title), lambda: Seen(False, "no"), 10)
    assert raised.value.cause == "settle-ownership"
