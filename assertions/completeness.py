"""Whether a run has waited long enough to say that nothing more will come. Pure."""

from __future__ import annotations

from assertions.view import RunView, Sent

NATURAL_DELAY_MS = 6_000
"""Deliveries were seen up to 1 s after the sending, and up to 5 s after the stored subscription changed under
members that held long polls; what has not come by then, without a fault, is not on its way."""


def still_possible(view: RunView, groups: list[str], messages: list[Sent], at: int) -> str | None:
    """None where every message's fate is sealed at event `at`; otherwise why it is too early to say.

    Sealed: each group's observed offset has passed it, or it was acknowledged `NATURAL_DELAY_MS` before.
    """
    end = next((event for event in view.events if event.n == at), None)
    if end is None:
        return "the observation was not completed"
    young = [
        message
        for message in messages
        if (end.mono_ns - message.event.mono_ns) / 1e6 < NATURAL_DELAY_MS
        and not all(view.first_passed(group, message, at) for group in groups)
    ]
    if not young:
        return None
    return (
        f"too early to say: {len(young)} messages wait ahead of the group's offset and were sent less than "
        f"{NATURAL_DELAY_MS // 1000} s before"
    )
