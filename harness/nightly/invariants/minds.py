"""In what the members of a group disagree. Pure."""

from __future__ import annotations

from assertions.view import RunView
from harness.consumer import Expression, SqlExpression

AGREE = "the members agree"


def disagreement(view: RunView, group: str, topic: str, first: int, last: int) -> str:
    """In what the members that were online from one event to another disagree about a topic.

    The gravest of it, in words that make a cause: whether they subscribe to the topic, by what, or how they
    allocate its queues; or that they agree. All topics count for the first, as each heartbeat replaces them all.
    """
    members = view.online_between(group, first, last)
    if len({frozenset(view.own_subscriptions.at(member, last)) for member in members}) > 1:
        return "the members differ in their topics"
    wants: list[Expression] = []
    for member in members:
        between = view.own_subscriptions.between(member, topic, first, last)
        if None in between:
            return "the members differ in their topics"
        wants += [one for one in between if one is not None and one not in wants]
    if len(wants) > 1:
        by_sql = any(isinstance(one, SqlExpression) for one in wants)
        return f"the members differ in their {'SQL' if by_sql else 'tags'}"
    if len({view.scenario.consumers[member].strategy for member in members}) > 1:
        return "the members differ in their allocation"
    return AGREE


def ever_disagreed(view: RunView, group: str) -> bool:
    """Whether members of the group subscribed to different things, or allocated differently, at any time."""
    return any(
        disagreement(view, group, topic, 0, view.events[-1].n) != AGREE for topic in view.scenario.topics
    )
