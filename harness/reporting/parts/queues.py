"""What became of the messages, queue by queue."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rocketchaos.assertions.view import RunView, owned_queues
from rocketchaos.harness.core.events.observed import OffsetsObserved, SubscriptionObserved
from rocketchaos.harness.core.model import MessageClass
from rocketchaos.harness.language.expressions import text_of
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.subscriptions import subscriptions
from rocketchaos.harness.rocketmq.allocation import LOGICAL


@dataclass(frozen=True, slots=True)
class QueueLine:
    """One queue of a topic, for one group, at the end of the run."""

    group: str
    topic: str
    queue: str
    owner: str
    """The member that consumes it, or several, as differing strategies may have it; `nobody`: no member does;
    `unknown`: a member didn't say which queues it owns, or the topic is static: members divide queues that brokers
    map to these."""
    own_subscription: str | None
    """The owner's own subscription at the end, `-` where it has none; None: no owner is known."""
    stored: str | None
    """The broker's value; None: it has none, or it wasn't observed."""
    sent: int
    delivered: Mapping[str, int]
    """Different messages by consumer."""
    classes: Mapping[MessageClass, int]
    consumer_offset: int | None
    max_offset: int | None


def queue_lines(run: Report) -> list[QueueLine]:
    """All queues of all topics for all groups, in order."""
    if not run.events:
        return []
    view, own = RunView(run.scenario, run.events), subscriptions(run)
    return [
        line
        for group in run.scenario.groups
        for topic in run.scenario.topics
        if any(topic in own[name] for name in run.scenario.members(group))
        for line in _of_topic(run, view, group, topic)
    ]


def _of_topic(run: Report, view: RunView, group: str, topic: str) -> list[QueueLine]:
    end = run.events[-1].n
    offsets = _last_offsets(view, group, topic)
    stored = _stored(view, group, topic)
    owners: dict[str, list[str]] = {}
    known = view.ownership(group, end)
    for name, event in known.items():
        for queue in owned_queues(event, topic):
            owners.setdefault(queue, []).append(name)
    unknown = [
        name for name in view.online(end, group) if name not in known and view.traits(name).queues == "owned"
    ]
    static = any(queue.startswith(LOGICAL) for queue in owners)
    fates = [fate for fate in run.outcome.messages if (fate.group, fate.topic) == (group, topic)]
    names = {*offsets, *(fate.queue for fate in fates if fate.queue is not None)}
    lines = []
    for queue in sorted(names, key=_order):
        own = [fate for fate in fates if fate.queue == queue]
        owner = owners.get(queue, [])
        subscribed = dict.fromkeys(_own_subscription(view, name, topic, end) for name in owner)
        committed, maximum = offsets.get(queue, (None, None))
        lines.append(
            QueueLine(
                group=group,
                topic=topic,
                queue=queue,
                owner=", ".join(owner) or ("unknown" if unknown or static else "nobody"),
                own_subscription=", ".join(subscribed) or None,
                stored=stored.get(queue.rpartition(":")[0]),
                sent=len(own),
                delivered=Counter(name for fate in own for name in dict.fromkeys(fate.deliveries)),
                classes=Counter(fate.message_class for fate in own),
                consumer_offset=committed,
                max_offset=maximum,
            )
        )
    return lines


def _own_subscription(view: RunView, consumer: str, topic: str, at: int) -> str:
    own = view.own_subscriptions.at(consumer, at).get(topic)
    return "-" if own is None else text_of(own)


def _order(queue: str) -> tuple[str, int]:
    broker, _, number = queue.rpartition(":")
    return broker, int(number) if number.isdigit() else 0


def _last_offsets(view: RunView, group: str, topic: str) -> dict[str, tuple[int | None, int | None]]:
    """By queue: the group's offset and the broker's, as they were seen last."""
    found: dict[str, tuple[int | None, int | None]] = {}
    for event in view.of_kind(OffsetsObserved):
        if (event.body.group, event.body.topic) == (group, topic):
            for queue in event.body.queues:
                found[queue.name] = (queue.consumer_offset, queue.max_offset)
    return found


def _stored(view: RunView, group: str, topic: str) -> dict[str, str]:
    """By broker: the stored expression, as it was seen last."""
    found: dict[str, str] = {}
    for event in view.of_kind(SubscriptionObserved):
        if event.body.group == group:
            item = event.body.subscriptions.get(topic)
            if item is None:
                found.pop(event.body.broker, None)
            else:
                found[event.body.broker] = item.expression
    return found
