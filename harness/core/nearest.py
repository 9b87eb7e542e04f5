"""Finds the most similar allowed word, and joins words for a sentence."""

import difflib
from collections.abc import Collection

_LONGEST = 80
"""Longer words have no near one: comparing them takes time, and they weren't meant as words."""

_SHORTEST = 4
"""Letters of a word that is looked for within another one: shorter ones are in many."""


def nearest(word: str, allowed: Collection[str], alike: float = 0.6) -> str | None:
    """The allowed word that `word` was probably meant to be; the only one there is counts as near.

    Args:
        alike: from 0 to 1; of many hundred words some are like any other, so that these need more.
    """
    if len(allowed) == 1:
        return next(iter(allowed))
    if len(word) > _LONGEST:
        return None
    by_small_letters = {text.lower(): text for text in allowed}
    found = difflib.get_close_matches(word.lower(), by_small_letters, n=1, cutoff=alike)
    return by_small_letters[found[0]] if found else None


def contained(word: str, allowed: Collection[str]) -> str | None:
    """The longest allowed word within RocketMQ's own: `last-offset` in CONSUME_FROM_LAST_OFFSET; None: none is."""
    plain = word[:_LONGEST].lower().replace("_", "-")
    found = [text for text in allowed if len(text) >= _SHORTEST and text.lower() in plain]
    return max(found, key=len, default=None)


def listed(words: Collection[str], most: int = 16) -> str:
    """The words in a sentence: `a`, `b`, `c`."""
    shown = ", ".join(f"`{word}`" for word in list(words)[:most])
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown


def clipped(text: str) -> str:
    """A user's text at a length that fits in a sentence."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
