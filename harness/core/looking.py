"""Waiting for a condition, with a limit."""

from collections.abc import Callable
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_result, stop_after_delay, wait_fixed

Seen = TypeVar("Seen")


def look_until(
    look: Callable[[], Seen], enough: Callable[[Seen], bool], limit_s: float, every_s: float
) -> Seen:
    """Look again and again until that is enough or the limit has passed; what was seen last, enough or not."""

    def last(state: RetryCallState) -> Seen:
        assert state.outcome is not None
        seen: Seen = state.outcome.result()
        return seen

    looking = Retrying(
        retry=retry_if_result(lambda seen: not enough(seen)),
        wait=wait_fixed(every_s),
        stop=stop_after_delay(limit_s),
        retry_error_callback=last,
    )
    return looking(look)
