"""Small pieces of text. Tags, topics and error messages are strangers' text: nothing of it may act."""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

_UNSAFE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Unicode categories that terminals, XML parsers or encoders stumble over, or that hide what is written."""


def printable(value: object, keep: str = "") -> str:
    """The text with control characters, lone surrogates and direction marks as visible escapes.

    Characters in `keep` stay as they are: `"\\n"` for text of several lines.
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(
        item if item in keep or unicodedata.category(item) not in _UNSAFE else _escape(item) for item in text
    )


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def reason_of(error: Exception) -> str:
    """What happened, without the number and the path that the system's own text has."""
    return (
        (getattr(error, "strerror", None) or str(error)).lower() if isinstance(error, OSError) else str(error)
    )


def one_line(value: object) -> str:
    """The text on one line, its line breaks as spaces."""
    return printable(" ".join(str(value).split()))


def seconds_text(seconds: float) -> str:
    """`0.004 s`, `3.2 s`, `2 min 05 s`."""
    if seconds >= 120:
        whole = round(seconds)
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{seconds:.1f} s" if seconds >= 0.1 or seconds <= 0 else f"{seconds:.3f} s"


def counted(number: int, word: str, plural: str | None = None) -> str:
    """`1 message`, `8 messages`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def percent(share: float) -> str:
    """`85 %`; nearly nothing and nearly everything are not rounded to 0 and 100."""
    value = share * 100
    if 0 < value < 1 or 99 < value < 100:
        return f"{value:.1f} %"
    return f"{value:.0f} %"


def ranges(numbers: Iterable[int], limit: int | None = None) -> str:
    """`0-3, 7`; after `limit` ranges an ellipsis."""
    ordered = sorted(set(numbers))
    if not ordered:
        return ""
    starts = [ordered[0], *(after for before, after in pairwise(ordered) if after != before + 1)]
    ends = [*(before for before, after in pairwise(ordered) if after != before + 1), ordered[-1]]
    parts = [
        str(start) if start == end else f"{start}-{end}" for start, end in zip(starts, ends, strict=True)
    ]
    if limit is not None and len(parts) > limit:
        return ", ".join(parts[:limit]) + ", …"
    return ", ".join(parts)


def event_numbers(numbers: Sequence[int], limit: int = 8) -> str:
    """`event 7`, `events 7-9, 12`; empty if there are none."""
    if not numbers:
        return ""
    return f"event{'s' if len(set(numbers)) > 1 else ''} {ranges(numbers, limit)}"


def some(names: Sequence[str], limit: int = 6) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"
