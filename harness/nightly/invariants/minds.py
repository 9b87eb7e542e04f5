"""In what the members of a group disagree. Pure."""

from __future__ import annotations

from assertions.view import RunView
from harness.consumer import Expression, SqlExpression

AGREE = "the members agree"
TOPICS = "the members differ in their topics"
TAGS = "the members differ in their tags"
SQL = "the members differ in their SQL"
ALLOCATION = "the members differ in their allocation"


def disagreement(
    view: RunView, group: str, topic: str, first: int, last: int, *, filters_first: bool = False
) -> str:
    """In what the members that were online from one event to another disagree about a topic, or that they agree.

    Where they disagree in several ways the one that comes first: in their topics, for each heartbeat replaces them
    all; in their expressions for this one; in their allocation. What a filter did is told by the expressions:
    `filters_first`.
    """
    members = view.online_between(group, first, last)
    ways = [_in_topics(view, members, topic, first, last), _in_expressions(view, members, topic, first, last)]
    allocations = {view.scenario.consumers[member].strategy for member in members}
    ways = [*(reversed(ways) if filters_first else ways), ALLOCATION if len(allocations) > 1 else None]
    return next((way for way in ways if way is not None), AGREE)


def _in_topics(view: RunView, members: list[str], topic: str, first: int, last: int) -> str | None:
    topics = {frozenset(view.own_subscriptions.at(member, last)) for member in members}
    gave_up = any(
        None in view.own_subscriptions.between(member, topic, first, last)
        and topic in view.own_subscriptions.at(member, last)
        for member in members
    )
    return TOPICS if len(topics) > 1 or gave_up else None


def _in_expressions(view: RunView, members: list[str], topic: str, first: int, last: int) -> str | None:
    wants: list[Expression] = []
    for member in members:
        for one in view.own_subscriptions.between(member, topic, first, last):
            if one is not None and one not in wants:
                wants.append(one)
    if len(wants) < 2:
        return None
    return SQL if any(isinstance(one, SqlExpression) for one in wants) else TAGS


def ever_disagreed(view: RunView, group: str) -> bool:
    """Whether members of the group subscribed to different things, or allocated differently, at any time."""
    return any(
        disagreement(view, group, topic, 0, view.events[-1].n) != AGREE for topic in view.scenario.topics
    )
