"""Names in the order that people expect."""

import re

_DIGITS = re.compile(r"(\d+)")


def natural(text: str) -> list[tuple[int, int | str]]:
    """A sort key that sorts names with numbers by the size of the numbers: `5.10.0` is after `5.9.4`."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in _DIGITS.split(text) if part]
