"""What to conclude for one's own RocketMQ, from the classes that are there."""

from collections.abc import Mapping

from rocketchaos.harness.core.model import MessageClass, MessageFate
from rocketchaos.harness.language.expressions import Expression, text_of
from rocketchaos.harness.language.tags import client_matches, tags_of
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.subscriptions import Subscriptions, subscriptions

_FILTERED = frozenset((MessageClass.FILTERED_BY_BROKER, MessageClass.FILTERED_BY_CLIENT))
_SAME_SUBSCRIPTION = frozenset((*_FILTERED, MessageClass.STRANDED, MessageClass.LOST))


def advice(run: Report) -> list[str]:
    """A few sentences; none if nothing follows."""
    fates, own = run.outcome.messages, subscriptions(run)
    present = {fate.message_class for fate in fates}
    by_group = {
        group: {name: own[name] for name in run.scenario.members(group)} for group in run.scenario.groups
    }
    found = [
        _same_subscription(group, members)
        for group, members in by_group.items()
        if _differ(members)
        and any(fate.group == group and fate.message_class in _SAME_SUBSCRIPTION for fate in fates)
    ]
    filtered = [fate for fate in fates if fate.message_class in _FILTERED]
    if not all(_is_wanted(by_group[fate.group], fate) for fate in filtered):
        found.append("Some messages have a tag to which no member subscribes: these were filtered as asked.")
    if any(_is_wanted(by_group[fate.group], fate) for fate in filtered):
        found.append(
            "Filtered messages don't come back by themselves, because the offsets have passed them. Once all "
            "members subscribe alike, set the group's offsets back (mqadmin resetOffsetByTime); messages "
            "that were delivered then come again, so handle them idempotently."
        )
    found += [text for item, text in _BY_CLASS.items() if item in present]
    return found


_BY_CLASS = {
    MessageClass.STRANDED: (
        "Stranded messages are not lost: they are consumed when the member that owns their queues on paper "
        "subscribes to the topic, or leaves the group."
    ),
    MessageClass.IN_FLIGHT: "Messages in flight were still waiting when the run ended: nothing is lost yet.",
    MessageClass.IN_RETRY: (
        "Messages in retry come again by themselves: after their delay, once a member reads the retry topic."
    ),
    MessageClass.DEAD_LETTER: (
        "Dead letters don't come again by themselves: read them from %DLQ%<group>, or raise max_reconsume_times."
    ),
    MessageClass.LOST: (
        "Lost messages are explained by no filter: keep the run folder, and report it to RocketMQ or to "
        "rocketchaos."
    ),
    MessageClass.UNDETERMINED: (
        "The history says too little about undetermined messages: run again, let the scenario settle before it "
        "sends, or `observe` before its next step changes who consumes."
    ),
}


def _differ(members: Subscriptions) -> bool:
    """Whether the members of a group disagree about their subscription."""
    return len({tuple(sorted(_meaning(own).items())) for own in members.values()}) > 1


def _meaning(own: Mapping[str, Expression]) -> dict[str, str]:
    """By topic, spelled alike where it means the same."""
    return {
        topic: " || ".join(sorted(tags_of(item))) if isinstance(item, str) else f"SQL {item.sql}"
        for topic, item in own.items()
    }


def _same_subscription(group: str, members: Subscriptions) -> str:
    expressions = "; ".join(
        f"{name}: " + ", ".join(f"{topic} {text_of(item)!r}" for topic, item in own.items())
        for name, own in members.items()
    )
    return (
        f"Give all members of group {group} the same subscription: the same topics, each with the same tags. "
        f"Here they differ ({expressions}). Give consumers with another subscription a group of their own."
    )


def _is_wanted(members: Subscriptions, fate: MessageFate) -> bool:
    """Whether any of these members subscribes to the message."""
    expressions = (own.get(fate.topic) for own in members.values())
    return any(item is not None and client_matches(item, fate.tag) for item in expressions)
