"""Limits that a check states: `at_least`, `at_most`, and the keys that end so. A limit of 0 is a limit. Pure."""

from collections.abc import Iterable, Iterator

LEAST, MOST = "at_least", "at_most"


def keeps(number: float, at_least: float | None, at_most: float | None) -> bool:
    """Whether `number` is within both limits, each included; None: there is no such limit."""
    return (at_least is None or number >= at_least) and (at_most is None or number <= at_most)


def pairs(keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The keys for a lower limit that also have a key for the upper limit, in pairs: `after_at_least`, …"""
    known = set(keys)
    for least in sorted(known):
        most = least.removesuffix(LEAST) + MOST
        if least.endswith(LEAST) and most in known:
            yield least, most
