"""Who should own which queue: the allocation, recomputed from the member list."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rocketchaos.harness.diagnose.finding import Unknown
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.rocketmq import allocation
from rocketchaos.harness.rocketmq.allocation import Queue

KNOWN = {
    "AllocateMessageQueueAveragely": allocation.average,
    "AllocateMessageQueueAveragelyByCircle": allocation.average_by_circle,
}
CONSISTENT_HASH = "AllocateMessageQueueConsistentHash"


def share(
    strategy: str, queues: Sequence[Queue], members: Sequence[str], member: str, topic: str
) -> tuple[Queue, ...] | None:
    """The queues that a member takes by its strategy; None if they can't be recomputed from outside.

    A client of another language that doesn't name its strategy averages.
    """
    if strategy == CONSISTENT_HASH:
        return allocation.consistent_hash(queues, members, member, topic)
    known = KNOWN.get(strategy or "AllocateMessageQueueAveragely")
    return None if known is None else known(queues, members, member)


def shares(view: GroupView, topic: str) -> Mapping[str, tuple[Queue, ...] | None]:
    """By client id, for every member: a member that doesn't subscribe to the topic takes a share too."""
    queues, ids = view.queues(topic), sorted(_listed(view))
    return {
        client_id: None
        if _is_hidden(view, client_id)
        else share(view.members[client_id].strategy, queues, ids, client_id, topic)
        for client_id in sorted(view.members)
    }


def hidden(view: GroupView) -> list[str]:
    """The members whose shares a bundle hides: the ring hashes real names, and pseudonyms have other hashes."""
    return [client_id for client_id in sorted(view.members) if _is_hidden(view, client_id)]


def _is_hidden(view: GroupView, client_id: str) -> bool:
    return view.pseudonyms and view.members[client_id].strategy == CONSISTENT_HASH


def _listed(view: GroupView) -> list[str]:
    """The client ids that a broker sends to members; an id that several processes have is in it several times
    (4.9.4, 5.5.0: ConsumerGroupInfo.getAllClientId)."""
    known = [
        Counter(connection.client_id for connection in stored.connections) for stored in view.stored.values()
    ]
    most: Counter[str] = Counter()
    for ids in known:
        most |= ids
    return list(most.elements())


def ids_twice(view: GroupView) -> list[str]:
    """The client ids that count as several members."""
    return sorted(client_id for client_id, number in Counter(_listed(view)).items() if number > 1)


def has_id_twice(view: GroupView) -> bool:
    """Whether a client id counts as several members."""
    return bool(ids_twice(view))


def others_of_one_id() -> Unknown:
    """A broker passes a question about a client id to one of its processes (ConsumerManager.findChannel)."""
    said = "only one process of a client id is asked (RC0201)"
    return Unknown(said, by_silence=True, silent="other processes of a client id")


def settled(view: GroupView, topic: str) -> bool | None:
    """Whether each member that wants the topic owns what its strategy gives it; None: can't be recomputed."""
    wanting = view.own(topic)
    expected = shares(view, topic)
    if any(expected[client_id] is None for client_id in wanting):
        return None
    queues = set(view.queues(topic))
    for client_id in wanting:
        held = view.members[client_id].queues.get(topic, {})
        has = {queue for queue, item in held.items() if not item.dropped and queue in queues}
        if has != set(expected[client_id] or ()):
            return False
    return True
