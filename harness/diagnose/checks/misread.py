"""Expressions that mean something else to RocketMQ than to people."""

import re
from collections.abc import Iterator

from rocketchaos.harness.diagnose.checks.subscriptions import of_member
from rocketchaos.harness.diagnose.fate import is_sent
from rocketchaos.harness.diagnose.finding import Check, Found, Level, Result
from rocketchaos.harness.diagnose.meaning import expression_text
from rocketchaos.harness.diagnose.model import TAG, Subscription
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import joined
from rocketchaos.harness.language.tags import tags_of

_ODD = re.compile(r"[\s,;|&=*]")
"""In a tag it is nearly always meant as a separator, as a comparison, or as a pattern."""


def odd_tags(subscription: Subscription) -> list[str]:
    """Its tags that a person would read otherwise."""
    return sorted(tag for tag in tags_of(expression_text(subscription)) if _ODD.search(tag))


def misread(view: GroupView) -> Iterator[Result]:
    """Expressions that don't mean to RocketMQ what they look like."""
    for topic in view.topics:
        wanting: dict[str, list[str]] = {}
        for client_id, own in view.own(topic).items():
            if own.type == TAG:
                wanting.setdefault(expression_text(own), []).append(client_id)
        for text, ids in wanting.items():
            # A tag that messages have is meant so, also `tag A`.
            if odd := [tag for tag in odd_tags(view.own(topic)[ids[0]]) if not is_sent(view, topic, tag)]:
                yield Found(
                    f"{joined(sorted(ids))} {'wants' if len(ids) == 1 else 'want'} `{text}`, in which "
                    f"{joined([f'`{tag}`' for tag in odd])} "
                    f"{'is one tag' if len(odd) == 1 else 'are tags'} to RocketMQ",
                    tuple(of_member(view.members[item], view.own(topic)[item]) for item in ids),
                    topic,
                    key=text,
                )


CHECKS = (
    Check(
        "RC0107",
        "an expression doesn't mean what it looks like",
        Level.WARNING,
        "every expression means what it looks like",
        "RocketMQ splits expressions at `||` alone, and knows no patterns: `tagA,tagB` and `tagA*` are single "
        "tags. It filters all messages with other tags, and tools show them as consumed.",
        (
            "Write tags with `||` between them: `tagA || tagB`. All messages are `*` alone, without blanks.",
            "A comparison, `a = 1`, needs SQL92: `MessageSelector.bySql`.",
        ),
        by_subscriptions=True,
        of_group=misread,
    ),
)
