"""In what the members of a group disagree. Pure."""

from typing import Literal

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.language.expressions import Expression, SqlExpression

Disagreement = Literal["agree", "topics", "tags", "sql", "allocation"]
"""Whether members agree, or how they differ; part of the codes of findings (`harness.nightly.codes`)."""

Way = Literal["topics", "expressions", "allocation"]
"""The ways in which members may disagree."""
OF_HEARTBEATS: tuple[Way, ...] = ("topics", "expressions", "allocation")
"""The heartbeats that decide the stored subscriptions: each one replaces all topics."""
OF_FILTERS: tuple[Way, ...] = ("expressions", "topics", "allocation")
OF_CONSUMPTION: tuple[Way, ...] = ("topics", "allocation", "expressions")
"""The ways that decide who consumes a queue at all, not which messages a filter lets through."""
OF_OWNERS: tuple[Way, ...] = ("allocation", "topics", "expressions")


def disagreement(
    view: RunView, group: str, topic: str, first: int, last: int, order: tuple[Way, ...] = OF_HEARTBEATS
) -> Disagreement:
    """In what the members that were online from one event to another disagree about a topic, or that they agree.

    Where they disagree in several ways the one that comes first in this order, as what it decides over.
    """
    members = view.online_between(group, first, last)
    allocations = {view.scenario.consumers[member].strategy for member in members}
    ways: dict[Way, Disagreement | None] = {
        "topics": _in_topics(view, members, topic, first, last),
        "expressions": _in_expressions(view, members, topic, first, last),
        "allocation": "allocation" if len(allocations) > 1 else None,
    }
    return next((way_disagreement for way in order if (way_disagreement := ways[way]) is not None), "agree")


def _in_topics(view: RunView, members: list[str], topic: str, first: int, last: int) -> Disagreement | None:
    topics = {frozenset(view.own_subscriptions.at(member, last)) for member in members}
    gave_up = any(
        None in view.own_subscriptions.between(member, topic, first, last)
        and topic in view.own_subscriptions.at(member, last)
        for member in members
    )
    return "topics" if len(topics) > 1 or gave_up else None


def _in_expressions(
    view: RunView, members: list[str], topic: str, first: int, last: int
) -> Disagreement | None:
    wants: list[Expression] = []
    for member in members:
        for item in view.own_subscriptions.between(member, topic, first, last):
            if item is not None and item not in wants:
                wants.append(item)
    if len(wants) < 2:
        return None
    return "sql" if any(isinstance(want, SqlExpression) for want in wants) else "tags"


def ever_disagreed(view: RunView, group: str) -> bool:
    """Whether members of the group subscribed to different things, or allocated differently, at any time."""
    return any(
        disagreement(view, group, topic, 0, view.events[-1].n) != "agree" for topic in view.scenario.topics
    )
