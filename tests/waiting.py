"""Tests wait for conditions, with a limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rocketchaos.harness.core.looking import look_until

Seen = TypeVar("Seen")


def until(look: Callable[[], Seen], limit_s: float = 60.0, holds: Callable[[Seen], bool] = bool) -> Seen:
    """What `look` gives as soon as it holds; a limit that passes fails the test, and says what was last seen."""
    seen = look_until(look, holds, limit_s, 0.02)
    assert holds(seen), f"not within {limit_s:g} s; last seen: {seen!r}"
    return seen
