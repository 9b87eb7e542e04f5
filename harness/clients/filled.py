"""Placeholders in the text of messages: `$key` and `$number`."""

import re

_PLACEHOLDER = re.compile(r"\$(key|number)\b")


def filled(text: str | None, key: str) -> str:
    """The text of the message with this key, `orders-17`; without a text its key."""
    if text is None:
        return key
    values = {"key": key, "number": key.rpartition("-")[2]}
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)
