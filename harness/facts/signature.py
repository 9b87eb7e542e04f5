"""A text without what differs from run to run, so that equal causes look equal."""

import re

from rocketchaos.harness.core.names import TOKEN

LONGEST = 300
"""Characters of a signature."""

_PLACEHOLDERS = [
    (re.compile(pattern, re.ASCII), placeholder)
    for pattern, placeholder in (
        (r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}([.,]\d+)?(Z|[+-]\d{2}:?\d{2})?", "<time>"),
        (rf"-{TOKEN}\b", "-<run>"),
        (r"\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b", "<address>"),
        (r"\[[0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{0,4}){2,}\](:\d+)?", "<address>"),
        (r"\b[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "<id>"),
        (r"\b0x[0-9a-fA-F]+\b", "<hex>"),
        (r"@[0-9a-f]{5,8}\b", "@<hex>"),
        (r"\b(?=[0-9A-Fa-f]*\d)(?=[0-9A-Fa-f]*[A-Fa-f])[0-9A-Fa-f]{8,}\b", "<hex>"),
        (r"\d+(\.\d+)*", "<n>"),
        # Lists of what is alike now, as of keys of messages.
        (r"([\w:%.-]*<n>[\w:%.<>-]*)(, \1)+", r"\1, ..."),
        (r"\s+", " "),
    )
]


def signature(text: str, run: str) -> str:
    """The text with placeholders for the run's token, times, addresses, identifiers and numbers."""
    plain = text.replace(run, "<run>")
    for pattern, placeholder in _PLACEHOLDERS:
        plain = pattern.sub(placeholder, plain)
    return plain.strip(" ")[:LONGEST]
