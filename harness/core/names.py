"""Names that no other run has: topics and groups of a scenario get a token of the run behind them."""

import random
import string
import time
from dataclasses import dataclass

_DIGITS = string.digits + string.ascii_lowercase
TOKEN = "[m-p][0-9a-z]{13}"
"""A regular expression for tokens of the years 2024 to 2034: hardly any word of a log looks like one."""


def new_token() -> str:
    """A token for one run, different for every run on every machine: time in ms and 6 random digits.

    Two runs that share a group's name make each other's figures void, so a seed must not decide it.
    """
    moment, text = time.time_ns() // 1_000_000, ""
    while moment:
        moment, digit = divmod(moment, 36)
        text = _DIGITS[digit] + text
    return text + "".join(random.SystemRandom().choices(_DIGITS, k=6))


@dataclass(frozen=True, slots=True)
class Names:
    """Translates between the scenario's names and those on the broker."""

    token: str
    as_they_are: bool = False
    """On a cluster of the run's own, for programs that have the names in them."""

    def real(self, name: str) -> str:
        """`orders` as `orders-<token>`, or as it is."""
        return name if self.as_they_are else f"{name}-{self.token}"

    def scenario(self, real: str) -> str:
        """The way back, also for `%RETRY%<group>`; names that aren't this run's stay as they are."""
        return real.removesuffix(f"-{self.token}")
