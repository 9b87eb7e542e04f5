"""The live group, scaled down to what runs on one machine."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from rocketchaos.harness.diagnose.finding import Finding
from rocketchaos.harness.diagnose.meaning import meaning
from rocketchaos.harness.diagnose.model import CLASS, RETRY, TAG, Member, Subscription
from rocketchaos.harness.diagnose.owners import share
from rocketchaos.harness.diagnose.reproduction.clients import id_order
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.language.tags import SQL, tags_of
from rocketchaos.harness.rocketmq.allocation import Queue

MOST_MEMBERS = 6
MOST_QUEUES = 16
"""Of a topic, on all brokers together."""
MOST_TOPICS = 3
MOST_BROKERS = 2
ALL_BY_SQL = "absent IS NULL"
"""SQL92 that matches all messages, where the scenario doesn't depend on which ones a member wants."""
_TAG = "tagA"
"""Sent where all members want everything."""
_OTHER_TAG = "tagOther"
"""Sent where some members want everything, and others only some tags."""
_BY_EXPRESSION = ("RC0101", "RC0108")
"""Their scenarios depend on which messages SQL92 matches."""
_BY_WANTS = frozenset(
    {
        *("RC0101", "RC0102", "RC0106", "RC0107", "RC0108", "RC0407"),
        *("RC0206", "RC0207", "RC0211", "RC0212", "RC0214"),
    }
)
"""Their scenarios are about what members want, or say themselves what follows where it differs."""
_BY_POP_TOO = ("RC0101", "RC0211", "RC0214", "RC0701")
"""Their scenarios don't depend on who takes which queue, or have a form that doesn't."""
STRATEGIES = {
    "AllocateMessageQueueAveragely": "average",
    "AllocateMessageQueueAveragelyByCircle": "average-by-circle",
    "AllocateMessageQueueConsistentHash": "consistent-hash",
}
CLASSES = {word: name for name, word in STRATEGIES.items()}


@dataclass(frozen=True, slots=True)
class Scaled:
    """The live group, as it is to run here."""

    view: GroupView
    finding: Finding
    members: Mapping[str, Member]
    """By the name in the scenario; the names sort as the client ids of the scenario do."""
    topics: Mapping[str, str]
    """Name in the scenario by real name."""
    queues: Mapping[str, int]
    """On each broker, by the name in the scenario."""
    brokers: tuple[str, ...]
    start_order: tuple[str, ...]

    @property
    def topic(self) -> str:
        """The finding's topic, otherwise the first one."""
        return self.topics.get(self.finding.topic, next(iter(self.topics.values())))

    @property
    def real_topic(self) -> str:
        return next(real for real, name in self.topics.items() if name == self.topic)

    def all_queues(self, topic: str) -> tuple[Queue, ...]:
        """Of a topic, by its name in the scenario."""
        return tuple((broker, number) for broker in self.brokers for number in range(self.queues[topic]))

    def shares(self, topic: str) -> Mapping[str, tuple[Queue, ...]]:
        """What each member takes of a topic's queues here."""
        names = sorted(self.members)
        return {
            name: share(CLASSES[strategy(member)], self.all_queues(topic), names, name, topic) or ()
            for name, member in self.members.items()
        }

    @property
    def countable(self) -> bool:
        """Shares can be computed in advance, except by consistent hash: that depends on the names of the run."""
        return not any(strategy(member) == "consistent-hash" for member in self.members.values())

    def tags(self, real: str) -> list[str]:
        """The tags that members want of a topic, and one of those that only some take by wanting everything."""
        wanted = [
            member.subscriptions[real] for member in self.members.values() if real in member.subscriptions
        ]
        found = sorted({tag for item in wanted for tag in wanted_tags(item)})
        some_want_all = any(not wanted_tags(item) for item in wanted)
        return [*found, *([_OTHER_TAG] if some_want_all else [])] if found else [_TAG]


def pops(member: Member) -> bool:
    """Whether it takes messages by POP."""
    return any(held.popped for queues in member.queues.values() for held in queues.values())


def wanted_tags(subscription: Subscription) -> set[str]:
    """None: all messages; of SQL too, which stands for that here."""
    return set() if subscription.type == SQL else set(tags_of(subscription.expression))


def scaled(view: GroupView, finding: Finding) -> Scaled | str:
    """The group as it can run here; otherwise why it can't."""
    code = finding.check.code
    known = (
        [_as_connected(view, item) for item in view.members.values()]
        if code == "RC0211"
        else [item for item in view.members.values() if item.subscribes]
    )
    members = [item for item in known if any(topic in item.subscriptions for topic in view.topics)]
    if members and code == "RC0106":
        members = known  # those that subscribe to none of the topics are what is wrong
    if not members:
        return "no member reported itself"
    if any(item.type == CLASS for member in members for item in member.subscriptions.values()):
        return "which messages a class chooses is unknown from outside, and so is its code"
    members = [with_all_by_sql(item, (finding.topic,) if code in _BY_EXPRESSION else ()) for item in members]
    if code not in _BY_WANTS:
        members = _wanting_the_same(view, members)
    if code not in _BY_POP_TOO and view.shares_queues:
        return "its members share all queues (POP)"
    kept = sorted(_representatives(view, members), key=id_order)
    names = {f"m{number}": member for number, member in enumerate(kept, 1)}
    real_topics = _topics(view, finding.topic)[:MOST_TOPICS]
    topics = {real: f"t{number}" for number, real in enumerate(real_topics, 1)}
    brokers = sorted({broker for topic in real_topics for broker in view.on_brokers(topic)})[:MOST_BROKERS]
    if not brokers:
        return "no route of its topics is known"
    queues = {
        name: max(
            1,
            min(
                MOST_QUEUES // len(brokers),
                max((on_broker.read_queues for on_broker in view.on_brokers(real).values()), default=4),
            ),
        )
        for real, name in topics.items()
    }
    order = sorted(names, key=lambda name: names[name].started_ms)
    letters = tuple(f"broker-{'ab'[index]}" for index in range(len(brokers)))
    return Scaled(view, finding, names, topics, queues, letters, tuple(order))


def with_all_by_sql(member: Member, but: Collection[str] = ()) -> Member:
    """With SQL92 that matches all messages in place of its own, except for some topics."""
    return replace(
        member,
        subscriptions={
            topic: replace(item, expression=ALL_BY_SQL) if item.type == SQL and topic not in but else item
            for topic, item in member.subscriptions.items()
        },
    )


def _topics(view: GroupView, first: str) -> list[str]:
    """The group's topics without those of its retries by POP, and first the one that a finding is about."""
    retried = view.pop_retry_topics
    found = [topic for topic in view.topics if topic not in retried]
    # The name of such a topic ends in its topic's, after `_`, or `+` where brokers say so (KeyBuilder, 5.x).
    if first in retried:
        first = first[len(view.retry_topic) + 1 :]
    return sorted(found, key=lambda topic: topic != first)


def _wanting_the_same(view: GroupView, members: Sequence[Member]) -> list[Member]:
    """With the same topics, and of each whatever any member wants, where members want different ones.

    RC0101 and RC0106 have the scenarios of that; in another one it hides the cause.
    """
    same: dict[str, Subscription] = {}
    for topic in (item for item in view.topics if not item.startswith(RETRY)):
        items = [member.subscriptions[topic] for member in members if topic in member.subscriptions]
        if not items:
            continue
        same[topic] = items[0]
        if len({meaning(item) for item in items}) > 1:
            tags = [wanted_tags(item) for item in items]
            expression = " || ".join(sorted(set().union(*tags))) if all(tags) else "*"
            same[topic] = replace(items[0], type=TAG, expression=expression)
    return [replace(member, subscriptions={**same, **_as_before(member, same)}) for member in members]


def _as_before(member: Member, same: Mapping[str, Subscription]) -> Mapping[str, Subscription]:
    """A member's own, in its own spelling, except where it means something else."""
    return {
        topic: item
        for topic, item in member.subscriptions.items()
        if topic not in same or meaning(item) == meaning(same[topic])
    }


def _as_connected(view: GroupView, member: Member) -> Member:
    """With what a proxy or broker holds for its group, where nothing tells what the member itself wants."""
    if member.subscribes:
        return member
    by_proxy = [
        stored.subscriptions
        for stored in view.stored.values()
        if any(connection.client_id == member.client_id for connection in stored.connections)
    ]
    return replace(member, subscriptions=by_proxy[0]) if by_proxy else member


def _representatives(view: GroupView, members: Sequence[Member]) -> list[Member]:
    """All members, or of many some of each kind."""
    kinds: dict[object, list[Member]] = {}
    for member in members:
        wants = tuple(
            (topic, meaning(item))
            for topic, item in sorted(member.subscriptions.items())
            if topic in view.topics
        )
        kind = wants, member.strategy, member.orderly, view.way(member.client_id), pops(member)
        kinds.setdefault(kind, []).append(member)
    kept: list[Member] = []
    while len(kept) < min(MOST_MEMBERS, len(members)):
        for alike in kinds.values():
            if alike and len(kept) < MOST_MEMBERS:
                kept.append(alike.pop(0))
    return kept


def strategy(member: Member) -> str:
    """The member's strategy in the words of scenarios."""
    return STRATEGIES.get(member.strategy, "average")
