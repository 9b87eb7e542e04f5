"""The value of a plain scalar, by the core schema of YAML 1.2.

PyYAML follows YAML 1.1, by which `no` is false, `1:30` is 90 and `2024-01-01` a date. Here they are text.
"""

import re

_NULL = re.compile(r"|~|null|Null|NULL")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_LARGEST_NUMBER = 2**63 - 1
_MOST_CHARACTERS = 24
"""The longest text of that number in any base, with sign and prefix. Python refuses to convert much longer
ones."""


class NumberTooLongError(ValueError):
    """The number doesn't fit into a Java `long`."""


def scalar(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar.

    Raises:
        NumberTooLongError: it doesn't fit into a Java `long`, which RocketMQ's versions and offsets are.
    """
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text):
        return True
    if _FALSE.fullmatch(text):
        return False
    if _INTEGER.fullmatch(text):
        if len(text) > _MOST_CHARACTERS:
            raise NumberTooLongError(text)
        number = int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
        if abs(number) > _LARGEST_NUMBER:
            raise NumberTooLongError(text)
        return number
    if _FLOAT.fullmatch(text):
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text
