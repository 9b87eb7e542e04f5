"""What to conclude for one's own RocketMQ, from the classes that are there."""

from rocketchaos.harness.core.model import MessageClass, MessageFate
from rocketchaos.harness.language.expressions import Expression
from rocketchaos.harness.language.tags import client_matches, tags_of
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.scenario.model import Scenario

_FILTERED = frozenset((MessageClass.FILTERED_BY_BROKER, MessageClass.FILTERED_BY_CLIENT))
_SAME_SUBSCRIPTION = frozenset((*_FILTERED, MessageClass.STRANDED, MessageClass.LOST))


def advice(run: Report) -> list[str]:
    """A few sentences; none if nothing follows."""
    fates = run.outcome.messages
    present = {fate.message_class for fate in fates}
    found = [
        _same_subscription(run.scenario, group)
        for group in run.scenario.groups
        if members_differ(run.scenario, group)
        and any(fate.group == group and fate.message_class in _SAME_SUBSCRIPTION for fate in fates)
    ]
    if any(_wanted_by_none(run.scenario, fate) for fate in fates):
        found.append("Some messages have a tag to which no member subscribes: these were filtered as asked.")
    if any(_wanted_by_some(run.scenario, fate) for fate in fates):
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
    MessageClass.IN_RETRY: "Messages in retry come again by themselves after their delay.",
    MessageClass.DEAD_LETTER: (
        "Dead letters don't come again by themselves: read them from %DLQ%<group>, or raise max_reconsume_times."
    ),
    MessageClass.LOST: (
        "Lost messages are explained by no filter: keep the run folder, and report it to RocketMQ or to "
        "rocketchaos."
    ),
    MessageClass.UNDETERMINED: (
        "The history says too little about undetermined messages: run again, or let the scenario settle before "
        "it sends."
    ),
}


def members_differ(scenario: Scenario, group: str) -> bool:
    """Whether the members of the group disagree about their subscription."""
    return len({tuple(sorted(_subscription(scenario, name).items())) for name in scenario.members(group)}) > 1


def _subscription(scenario: Scenario, name: str) -> dict[str, str]:
    """By topic, spelled alike where it means the same."""
    return {
        topic: " || ".join(sorted(tags_of(item))) if isinstance(item, str) else f"SQL {item.sql}"
        for topic, item in scenario.consumers[name].subscribe.items()
    }


def _same_subscription(scenario: Scenario, group: str) -> str:
    expressions = "; ".join(
        f"{name}: {', '.join(f'{topic} {text!r}' for topic, text in scenario.consumers[name].expressions.items())}"
        for name in scenario.members(group)
    )
    return (
        f"Give all members of group {group} the same subscription: the same topics, each with the same tags. "
        f"Here they differ ({expressions}). Give consumers with another subscription a group of their own."
    )


def _wanters(scenario: Scenario, fate: MessageFate) -> list[str]:
    return [
        name
        for name in scenario.members(fate.group)
        if _wants(scenario.consumers[name].subscribe.get(fate.topic), fate.tag)
    ]


def _wants(expression: Expression | None, tag: str | None) -> bool:
    return expression is not None and client_matches(expression, tag)


def _wanted_by_none(scenario: Scenario, fate: MessageFate) -> bool:
    return fate.message_class in _FILTERED and not _wanters(scenario, fate)


def _wanted_by_some(scenario: Scenario, fate: MessageFate) -> bool:
    return fate.message_class in _FILTERED and bool(_wanters(scenario, fate))
