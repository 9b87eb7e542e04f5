"""Why a group may not get on in a queue: what another finding, or a setting of the queue's owner, says."""

from collections.abc import Iterator, Sequence

from rocketchaos.harness.diagnose.checks.configuration import lacks_group
from rocketchaos.harness.diagnose.checks.hands import STUCK_MS, moves, stuck_ms
from rocketchaos.harness.diagnose.checks.progress import hangs
from rocketchaos.harness.diagnose.checks.pulls import refused
from rocketchaos.harness.diagnose.fate import carries_its_own
from rocketchaos.harness.diagnose.model import CLASS, Held, Member
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.owners import has_id_twice
from rocketchaos.harness.diagnose.view import WRITE, GroupView
from rocketchaos.harness.diagnose.words import joined
from rocketchaos.harness.language.tags import SQL
from rocketchaos.harness.rocketmq.allocation import Queue

UNCOMMITTED = (
    "If the application polls, it has these messages, and has not committed them: they come again after a restart "
    "or a rebalance. Otherwise they wait."
)
"""The effect of an `uncommitted` offset."""
_HEARTBEAT_S = 40.0
"""A client sends a heartbeat every 30 s (heartbeatBrokerInterval). A pull follows and, within 5 s, a commit."""


def in_hands(view: GroupView, topic: str, queue: Queue) -> Iterator[tuple[Member, Held]]:
    """The queue in the hands of each member that owns it."""
    for member in view.answered:
        held = member.queues.get(topic, {}).get(queue)
        if held is not None and not held.dropped:
            yield member, held


def failing(view: GroupView, topic: str, queues: Sequence[Queue]) -> str:
    """The owners whose orderly listener fails on the oldest message, again and again, as a phrase."""
    ids = {
        member.client_id
        for queue in queues
        for member, held in in_hands(view, topic, queue)
        if held.cached_count and member.orderly and topic in member.failing
    }
    return f"; the orderly listener of {joined(sorted(ids))} keeps failing" if ids else ""


def pulls_fail(view: GroupView, topic: str, queues: Sequence[Queue]) -> str:
    """The owners whose pulls fail, and why, as a phrase."""
    return (
        _without_filter_server(view, topic, queues)
        or _without_heartbeat(view, topic, queues)
        or refused(view, topic, queues)
    )


def _without_filter_server(view: GroupView, topic: str, queues: Sequence[Queue]) -> str:
    """That the owners subscribe by a class, and look in vain for a server that runs it, as a phrase: each of their
    pulls throws (PullAPIWrapper.computePullFromWhichFilterServer; 4.9.4, 5.5.0)."""
    ids = sorted(
        {
            member.client_id
            for queue in queues
            for member, _ in in_hands(view, topic, queue)
            if topic in member.subscriptions and member.subscriptions[topic].type == CLASS
        }
    )
    route = view.route(topic)
    document = route.exchange.document if route is not None else {}
    if not ids or any((document.get("filterServerTable") or {}).values()):
        return ""
    return (
        f"; {joined(ids)} {'wants' if len(ids) == 1 else 'want'} messages by a class, and the route has no filter "
        "server (mqfiltersrv): all such pulls fail. Tags or SQL92 need none"
    )


def _without_heartbeat(view: GroupView, topic: str, queues: Sequence[Queue]) -> str:
    """The owners whose pulls the brokers refuse until the next heartbeat, as a phrase."""
    newer = {queue: found for queue in queues if (found := _newer_than_stored(view, topic, queue))}
    if not newer:
        return ""
    ids = sorted({item for found in newer.values() for item in found})
    brokers = sorted({queue[0] for queue in newer})
    return (
        f"; {joined(brokers)} {'holds' if len(brokers) == 1 else 'hold'} an older subscription than that of "
        f"{joined(ids)}, and {'refuses' if len(brokers) == 1 else 'refuse'} pulls of a newer one (code 25) until "
        "a heartbeat brings it"
    )


def _newer_than_stored(view: GroupView, topic: str, queue: Queue) -> list[str]:
    """The owners whose subscription has a newer version than the one that the queue's broker holds.

    The broker refuses such pulls (PullMessageProcessor, SUBSCRIPTION_NOT_LATEST; 4.9.4 to 5.5.0). At a client's
    start or rebalance this may take up to 30 s: a client skips heartbeats while one hangs.
    """
    held = view.held(topic).get(queue[0])
    return [
        member.client_id
        for member, _ in in_hands(view, topic, queue)
        if held is not None
        and topic in member.subscriptions
        and not carries_its_own(view, member)
        and member.subscriptions[topic].version > held.version
    ]


def heartbeat_s(view: GroupView, topic: str, queue: Queue) -> float:
    """How long it takes to see whether a heartbeat ends the refusal of a queue's pulls; 0: the last two looks saw
    no such refusal."""
    looks = (view, view.before)
    newer = any(item is not None and _newer_than_stored(item, topic, queue) for item in looks)
    return _HEARTBEAT_S if newer else 0.0


def uncommitted(view: GroupView, topic: str, queues: Sequence[Queue]) -> str:
    """The owners that hold no message of these queues, and leave it to their applications to commit offsets
    (DefaultLitePullConsumer), as a phrase; clients of 4.9.x don't report their queues."""
    owners = {member.client_id: member for queue in queues for member, _ in in_hands(view, topic, queue)} or {
        client_id: member for client_id, member in view.members.items() if topic in member.subscriptions
    }
    holding = any(held.cached_count for queue in queues for _, held in in_hands(view, topic, queue))
    if holding or not owners or any(item.properties.get("autoCommit") != "false" for item in owners.values()):
        return ""
    return f"; autoCommit is false in {joined(sorted(owners))}: the application commits"


def slow_pulls_s(view: GroupView, topic: str, queue: Queue) -> float:
    """How long the queue's owner waits from one pull to the next, by its own setting (pullInterval)."""
    texts = [member.properties.get("pullInterval", "") for member, _ in in_hands(view, topic, queue)]
    return max((whole(text) / 1000 for text in texts if text.isdecimal()), default=0.0)


def may_hang_s(view: GroupView, topic: str, queue: Queue) -> float:
    """How long it takes, from the first look on, to see whether a listener hangs (RC0601), where the queue's owner
    holds messages; 0: it fails, or finishes some."""
    left_ms = [
        STUCK_MS - stuck_ms(member, held)
        for member, held in in_hands(view, topic, queue)
        if topic not in member.failing
        and 0 < stuck_ms(member, held) < STUCK_MS
        and not moves(view.looks, view.group, member, topic, queue)
        and not _has_finished_one(view, member, topic, queue)
    ]
    past_s = (view.looks[-1].at_ms - view.looks[0].at_ms) / 1000
    return past_s + max(left_ms) / 1000 if left_ms else 0.0


def _has_finished_one(view: GroupView, member: Member, topic: str, queue: Queue) -> bool:
    """Whether its listener has returned since the look before, at which it had messages of the queue too."""
    known = view.before and view.before.members.get(member.client_id)
    held = known and known.queues.get(topic, {}).get(queue)
    if not held or not held.cached_count:
        return False
    return held.last_consume_ms != member.queues[topic][queue].last_consume_ms


def explained_by(view: GroupView, topic: str, queue: Queue) -> str:
    """The code of the finding that says why the group doesn't get on in a queue; empty: none does."""
    broker = view.now.brokers.get(queue[0])
    sql = any(item.type == SQL for item in view.own(topic).values())
    if lacks_group(view, queue[0]):
        return "RC0402"
    if view.now.groups.get(queue[0], {}).get(view.group, {}).get("consumeEnable") is False:
        return "RC0406"
    if sql and broker is not None and broker.config.get("enablePropertyFilter") == "false":
        return "RC0407"
    if subscription_removed(view, topic):
        return "RC0106"
    if _keeps_failed(view, topic, queue):
        return "RC0404"
    return hangs(view, topic, queue)


def _keeps_failed(view: GroupView, topic: str, queue: Queue) -> bool:
    """Whether a concurrent member fails, and can't send the messages back: no retry topic may be written."""
    retry = view.on_brokers(view.retry_topic).values()
    closed = bool(retry) and not any(item.permission & WRITE for item in retry)
    return closed and any(
        topic in item.failing and not item.orderly for item, _ in in_hands(view, topic, queue)
    )


def subscription_removed(view: GroupView, topic: str) -> bool:
    """Whether heartbeats of members that don't subscribe to a topic remove it: brokers then refuse the pulls of
    the others, until their next heartbeat."""
    known = [item for item in view.members.values() if item.subscribes]
    return not view.shares_queues and 0 < len(view.own(topic)) < len(known)


def unowned_because(view: GroupView, topic: str) -> str:
    """The code of the finding that says why queues of a topic have no owner."""
    if subscription_removed(view, topic):
        return "RC0106"
    if has_id_twice(view):
        return "RC0201"
    return "RC0207" if len({item.strategy for item in view.answered} - {""}) > 1 else "RC0301"
