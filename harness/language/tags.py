"""The two filters that a message passes: of tags the broker's by hash, the client's by text; of SQL the broker's.

After `FilterAPI.buildSubscriptionData`, `ExpressionMessageFilter.isMatchedByConsumeQueue` and
`PullAPIWrapper.processPullResult` (RocketMQ 4.9.4). SQL is not evaluated here: only the broker knows which
messages it matches.
"""

from collections.abc import Sequence

from rocketchaos.harness.core.events.observed import StoredSubscription
from rocketchaos.harness.language.expressions import Expression, SqlExpression
from rocketchaos.harness.language.words import BLANKS

ALL = "*"
SQL = "SQL92"
"""ExpressionType.SQL92, as observations of subscriptions name it."""


def tags_of(expression: str) -> frozenset[str]:
    """The tags of `tagA || tagB`; empty for everything (exactly `*`, or nothing at all).

    As RocketMQ has it, `" * "` is not everything but a tag of that name. And empty for what names none, `|| ||`:
    clients take that for everything, and brokers for nothing.
    """
    if expression in ("", ALL):
        return frozenset()
    return frozenset(tag.strip(BLANKS) for tag in expression.split("||") if tag.strip(BLANKS))


def first_tag(expression: str) -> str | None:
    """The tag that is named first in `tagA || tagB`; None: none is."""
    tags = (part.strip(BLANKS) for part in expression.split("||") if expression != ALL)
    return next(filter(None, tags), None)


def hash_code(text: str) -> int:
    """`String.hashCode()` of Java: what the ConsumeQueue keeps of a tag (0 for none)."""
    value = 0
    for unit in memoryview(text.encode("utf-16-le")).cast("H"):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - 0x100000000 if value >= 0x80000000 else value


def broker_matches(expression: str, codes: Sequence[int], tag: str | None) -> bool:
    """Whether the broker sends a message of `tag` to a pull under the stored `expression` and its codes."""
    if expression in ("", ALL):
        return True
    return (hash_code(tag) if tag else 0) in codes


def stored_matches(stored: StoredSubscription, tag: str | None) -> bool | None:
    """Whether the broker sends a message of `tag` by the subscription that it holds; None: it is SQL."""
    if stored.type == SQL:
        return None
    return broker_matches(stored.expression, stored.codes, tag)


def pulled_matches(expression: Expression, tag: str | None) -> bool | None:
    """Whether the broker sends a message of `tag` to a pull that carries `expression`; None: it is SQL."""
    if isinstance(expression, SqlExpression):
        return None
    return broker_matches(expression, [hash_code(item) for item in tags_of(expression)], tag)


def client_matches(expression: Expression, tag: str | None) -> bool:
    """Whether a client that subscribed with `expression` hands a message of `tag` to its listener.

    One that subscribed by SQL hands over all that it is sent.
    """
    if isinstance(expression, SqlExpression):
        return True
    tags = tags_of(expression)
    return not tags or (tag is not None and tag in tags)
