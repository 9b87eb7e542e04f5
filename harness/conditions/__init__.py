"""The conditions that `settle` waits for, one file each: what is so now, and whether it is enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenacity import RetryCallState, RetryError, Retrying, retry_if_result, stop_after_delay

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.run import Settled

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

POLL_INTERVAL_S = 0.01
LONGEST_POLL_INTERVAL_S = 0.05
POLL_SHARE = 0.05
"""The interval grows with the wait, so that a condition is seen at most 5 % late, and long waits, of which many
may go on in parallel, cost little."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """The condition that a `settle` waits for."""

    id: str
    """Its key: `ownership`, `dead_letters`."""
    subject: str
    """Whom it asks about: a group, a consumer, a topic, a node, or a variable for one."""
    title: str
    """For people, who may read other words in another version."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look showed: whether the condition holds, and in words what was seen."""

    holds: bool
    text: str


def _interval_s(state: RetryCallState) -> float:
    """How long to wait before the next look."""
    return min(max(POLL_INTERVAL_S, POLL_SHARE * (state.seconds_since_start or 0.0)), LONGEST_POLL_INTERVAL_S)


def await_condition(
    context: ProbeContext, awaited: Awaited, observe: Callable[[], Seen], within_ms: int
) -> None:
    """Look again and again until the condition holds; a worker or server that dies ends it at once.

    Raises:
        PreconditionNotMet: the limit passed; the message says what was last seen.
        EnvironmentNotReady: a worker or a server died.
    """
    started_ns = context.now_ns()
    observations = 0

    def guarded() -> Seen:
        nonlocal observations
        observations += 1
        context.check_alive()
        return observe()

    retrying = Retrying(
        retry=retry_if_result(lambda seen: not seen.holds),
        wait=_interval_s,
        stop=stop_after_delay(within_ms / 1000),
    )
    try:
        seen = retrying(guarded)
    except RetryError as limit:
        last = limit.last_attempt.result()
        raise PreconditionNotMet(
            f"settle: {awaited.title} not reached within {within_ms / 1000:g} s ({observations} looks); "
            f"last seen: {last.text}",
            cause=f"settle-{awaited.id}",
            about=(awaited.subject,),
        ) from None
    took_ms = (context.now_ns() - started_ns) / 1e6
    context.history.append(
        "harness",
        Settled(
            condition=awaited.title,
            condition_id=awaited.id,
            subject=awaited.subject,
            took_ms=round(took_ms, 1),
            looks=observations,
            seen=seen.text,
        ),
    )
