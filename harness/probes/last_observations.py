"""What of the looks at the same thing is worth writing down: changes, and moments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class LastObservations:
    """What the last look at each thing showed, and when that was begun."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Mapping[str, Any], int]] = {}

    def change(
        self, what: str, data: Mapping[str, Any], moment: str | None, began_ns: int, at_ns: int
    ) -> dict[str, Any] | None:
        """What is to be written down of a look at `what`; None: the last one showed the same, and no moment asks.

        `look_began_before_ms` in it says how long before it the last look was begun, which showed what was written
        down before. That answer was true at some time while it was under way, so that what has changed since may
        have changed as soon as it was begun, and no earlier.
        """
        last, before_ns = self._last.get(what, (None, began_ns))
        self._last[what] = dict(data), began_ns
        if moment is None and last == data:
            return None
        written = dict(data) if moment is None else {**data, "moment": moment}
        return (
            written
            if last is None
            else {**written, "look_began_before_ms": round((at_ns - before_ns) / 1e6, 1)}
        )
