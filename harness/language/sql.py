"""What SQL of the plainest form matches: NAME = NUMBER and NAME = 'TEXT'. Pure.

After `SelectorParser` and `ComparisonExpression` of `org.apache.rocketmq.filter`, and
`ExpressionMessageFilter.isMatchedByCommitLog` (RocketMQ 4.9.4): properties are text; compared with a number they
are read as one of the same type, and what can't be read so is an error, by which the message doesn't match; a
property that isn't there gives null, and the message doesn't match either.
"""

import re
from collections.abc import Mapping

_FORM = re.compile(
    r"\s*(?P<name>[a-z][A-Za-z0-9_]*)\s*=\s*(?:(?P<number>0|[1-9][0-9]{0,17})|'(?P<text>[^']*)')\s*"
)
"""Names that begin with a capital are left out, because RocketMQ's own properties have such names."""
_WHOLE = re.compile(r"[+-]?[0-9]+")
"""What Integer.valueOf and Long.valueOf read."""
_RESERVED = frozenset(
    {"not", "and", "or", "between", "in", "true", "false", "null", "is"}
    | {"contains", "startswith", "endswith"}
)
"""No names of properties, however they are written; the last ones in 5.x."""


def sql_matches(sql: str, properties: Mapping[str, str]) -> bool | None:
    """Whether a message with these user properties matches; None: the expression is of another form."""
    form = _FORM.fullmatch(sql)
    if form is None or form["name"].lower() in _RESERVED:
        return None
    value = properties.get(form["name"])
    if value is None:
        return False
    if form["number"] is None:
        return value == form["text"]
    return _WHOLE.fullmatch(value) is not None and int(value) == int(form["number"])
