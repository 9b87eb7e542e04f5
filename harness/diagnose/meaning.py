"""What a subscription means, whatever its text: `A||B` is `B || A`."""

from collections.abc import Mapping
from types import MappingProxyType

from rocketchaos.harness.diagnose import sql
from rocketchaos.harness.diagnose.model import CLASS, TAG, Subscription
from rocketchaos.harness.language.tags import SQL, hash_code, tags_of

Meaning = tuple[str, frozenset[str] | str]
"""Type, and tags (empty: everything), the SQL in one of its spellings, or the name of a class."""


ALL: Meaning = (TAG, frozenset())
"""Of a subscription that takes every message."""


def meaning(subscription: Subscription) -> Meaning:
    """Equal if two subscriptions match the same messages, as far as their texts tell."""
    if subscription.type == SQL:
        written = sql.canonical(subscription.expression)
        tags = sql.tags_alone(written)
        return (TAG, tags) if tags else (SQL, written)
    if subscription.type == CLASS:
        return CLASS, subscription.expression
    return TAG, tags_of(subscription.expression)


def expression_text(subscription: Subscription) -> str:
    """As one would write it."""
    return subscription.expression or "*"


_NOTHING: Mapping[str, bool] = MappingProxyType({})


def takes(
    subscription: Subscription, tags_code: int, tag: str | None = None, matched: Mapping[str, bool] = _NOTHING
) -> bool | None:
    """Whether it takes a message with this hash, or this tag where that is known; None: it is unknown.

    `matched` has the SQL92 of which it is known whether it matches the message.
    """
    _, tags = meaning(subscription)
    if isinstance(tags, str):
        return matched.get(subscription.expression) if subscription.type == SQL else None
    if tag is not None:
        return not tags or tag in tags
    return not tags or tags_code in {hash_code(item) for item in tags}
