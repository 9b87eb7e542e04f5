"""A text without what differs from run to run, so that equal causes look equal."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as fn

from rocketchaos.harness.core.names import TOKEN

LONGEST = 300
"""Characters of a signature."""

_PLACEHOLDERS = (
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
    (r"([\w:%.-]*<n>[\w:%.<>-]*)(, \1)+", "$1, ..."),
    (r"\s+", " "),
)


def signature(text: Column, run: Column) -> Column:
    """The text with placeholders for the run's token, times, addresses, identifiers and numbers."""
    plain = fn.replace(text, run, fn.lit("<run>"))
    for pattern, placeholder in _PLACEHOLDERS:
        plain = fn.regexp_replace(plain, pattern, placeholder)
    return fn.substring(fn.trim(plain), 1, LONGEST)
