"""Queues with no owner, or with several; the allocation is recomputed from the member list."""

from collections.abc import Iterator, Sequence

from rocketchaos.harness.diagnose.checks.offsets import only_filtered
from rocketchaos.harness.diagnose.fate import stranded, tell_no_queues
from rocketchaos.harness.diagnose.finding import (
    KILLED_LOCK_S,
    NEW_ROUTE_S,
    SETTLES_S,
    Check,
    Evidence,
    Found,
    Inapplicable,
    Level,
    Result,
    Unknown,
)
from rocketchaos.harness.diagnose.model import RETRY, disagree
from rocketchaos.harness.diagnose.owners import has_id_twice, hidden, settled, shares
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, joined, queues_text
from rocketchaos.harness.rocketmq.allocation import Queue


def unowned(view: GroupView) -> Iterator[Result]:
    """Queues without an owner."""
    yield from _none_by_allocation(view)
    for topic in view.divided_topics:
        if quiet := tell_no_queues(view, topic):
            yield _chosen_by_the_application(view, topic, quiet)
            continue
        owners = view.owners(topic)
        missing = {queue for queue in view.queues(topic) if queue not in owners}
        if missing and view.silent:
            yield Unknown(
                f"{queues_text(missing)}: {joined([item.client_id for item in view.silent])} may own "
                f"{'it' if len(missing) == 1 else 'them'}, but didn't answer",
                tuple(Evidence(item.exchange, item.exchange.why_not) for item in view.silent),
                topic,
                by_silence=not stranded(view, topic, list(missing)),
            )
        elif missing and set(hidden(view)) - set(view.own(topic)):
            yield _hidden(
                view, topic, f"{queues_text(missing)} may be in the share of a member that doesn't want it"
            )
        elif missing and (unexplained := missing - _explained(view, topic)):
            waits = stranded(view, topic, sorted(unexplained))
            waiting = sum(wait.count for wait in waits)
            yield Found(
                f"{counted(len(unexplained), 'queue')} of {len(view.queues(topic))}, {queues_text(unexplained)}, "
                f"{'has' if len(unexplained) == 1 else 'have'} no owner among "
                f"{counted(len(view.members), 'member')}",
                _evidence(view, topic),
                topic,
                effect=f"{counted(waiting, 'message')} {'waits' if waiting == 1 else 'wait'} there now."
                if waiting
                else "Messages that are sent there wait until a member owns the queue.",
                settled=settled(view, topic) is True,
                messages=tuple(waits),
                key=queues_text(unexplained),
                lasts_s=_lasts_s(view, topic),
            )
        elif missing:
            yield Inapplicable()  # another finding says why; not every queue has an owner
    yield from _left_out(view)


def several_owners(view: GroupView) -> Iterator[Result]:
    """Queues with more than one owner."""
    yield from _none_by_allocation(view)
    for topic in view.divided_topics:
        several = {queue: ids for queue, ids in view.owners(topic).items() if len(ids) > 1}
        # An id that is there twice hides that two members own its queues.
        explained = _shared_out_differently(view) if several else has_id_twice(view)
        if explained:
            yield Inapplicable()  # RC0207 or RC0201 says why; some queue has several owners
        elif several:
            yield Found(
                "; ".join(
                    f"{queues_text([queue])}: {joined(sorted(ids))}" for queue, ids in sorted(several.items())
                ),
                _evidence(view, topic),
                topic,
                settled=settled(view, topic) is True,
                key=queues_text(several),
                lasts_s=_lasts_s(view, topic),
            )
    choosing, topics = _choosing(view)
    for topic in topics:
        twice = {queue: ids for queue, ids in view.owners(topic).items() if len(ids) > 1}
        if twice:
            yield Found(
                f"{joined(choosing)} choose their queues by themselves (assign()), and chose the same: "
                f"{queues_text(twice)}",
                _evidence(view, topic),
                topic,
                level=Level.WARNING,
                settled=False,
                key=queues_text(twice),
            )


def _choosing(view: GroupView) -> tuple[list[str], list[str]]:
    """Members that choose their queues by themselves, and topics to which nobody subscribes.

    Such members subscribe to nothing (DefaultLitePullConsumer.assign(); 4.9.4, 5.5.0).
    """
    ids = sorted(item.client_id for item in view.answered if item.pulls_by_itself and not item.subscriptions)
    if not ids or view.broadcasting or view.silent:
        return [], []
    return ids, [topic for topic in view.topics if not view.own(topic) and not topic.startswith(RETRY)]


def _left_out(view: GroupView) -> Iterator[Unknown]:
    """Messages in queues that no member of those has chosen: only the application knows whether it needs them."""
    choosing, topics = _choosing(view)
    for topic in topics:
        owners = view.owners(topic)
        # Clients of 4.9.x don't report their queues: what has an offset was chosen at some time.
        free = [
            queue
            for queue in view.queues(topic)
            if queue not in owners and (owners or view.offset(topic, queue) is None)
        ]
        if waits := stranded(view, topic, free):
            count = sum(item.count for item in waits)
            yield Unknown(
                f"{counted(count, 'message')} {'waits' if count == 1 else 'wait'} in "
                f"{queues_text({item.queue for item in waits})}, which {joined(choosing)} "
                f"{'leaves' if len(choosing) == 1 else 'leave'} out: by assign() an application chooses its "
                "queues itself",
                tuple(Evidence(view.members[item].exchange, "it subscribes to nothing") for item in choosing),
                topic,
            )


def idle(view: GroupView) -> Iterator[Result]:
    """Members that own nothing because there are fewer queues than members."""
    yield from _none_by_allocation(view)
    topics = list(view.divided_topics)
    if not topics or view.silent or any(tell_no_queues(view, topic) for topic in topics):
        return
    if any(len(view.meanings(topic)) == 0 or len(view.own(topic)) < len(view.members) for topic in topics):
        return
    busy = {item for topic in topics for ids in view.owners(topic).values() for item in ids}
    spare = sorted(set(view.members) - busy)
    most = max(len(view.queues(topic)) for topic in topics)
    if spare and most < len(view.members) and hidden(view):
        yield _hidden(view, "", f"{joined(spare)} may be about to get a queue")
    elif spare and most < len(view.members):
        yield Found(
            f"{joined(spare)} {'has' if len(spare) == 1 else 'have'} no queue: there are "
            f"{counted(len(view.members), 'member')} for {counted(most, 'queue')}",
            tuple(e for topic in topics for e in _evidence(view, topic)),
            settled=all(settled(view, topic) is True for topic in topics),
            key=" ".join(spare),
        )


def _chosen_by_the_application(view: GroupView, topic: str, quiet: Sequence[str]) -> Result:
    """Of members that pull by themselves only the application knows the queues: what waits may have no owner."""
    # Messages that no member wants wait for nobody: RC0507.
    waits = stranded(
        view, topic, [item for item in view.queues(topic) if not only_filtered(view, topic, item)]
    )
    if not waits:
        return Inapplicable()
    count = sum(item.count for item in waits)
    return Unknown(
        f"{counted(count, 'message')} {'waits' if count == 1 else 'wait'} in "
        f"{queues_text({item.queue for item in waits})}, and the client of {joined(quiet)} doesn't report its "
        "queues",
        tuple(Evidence(view.members[item].exchange, "no queues in it") for item in quiet),
        topic,
    )


def _none_by_allocation(view: GroupView) -> Iterator[Inapplicable]:
    """Of groups whose members don't divide queues: each has all of them, pops from all, or pulls by itself."""
    quiet = [item for topic in view.topics for item in tell_no_queues(view, topic)]
    quiet += [item for item in _choosing(view)[0] if not view.members[item].queues]
    if view.broadcasting or view.shares_queues or quiet:
        yield Inapplicable()


def _hidden(view: GroupView, topic: str, what: str) -> Unknown:
    ids = hidden(view)
    return Unknown(
        f"{what}: AllocateMessageQueueConsistentHash divides queues by the hashes of real names, which a bundle "
        "hides; diagnose the cluster itself",
        tuple(Evidence(view.members[item].exchange, f"{item}: consistent hash") for item in ids),
        topic,
    )


def _lasts_s(view: GroupView, topic: str) -> float:
    """How long members may take until they have their shares: as long as they may not know the queues yet, or the
    broker keeps the lock of one that was killed.

    Of shares that can't be recomputed: as long as one of them has no queue at all. Where members ask different
    name servers, and these know different queues, no new route is on its way: the members never agree (RC0801).
    """
    wanting = view.own(topic)
    if any(view.members[client_id].orderly for client_id in wanting):
        return KILLED_LOCK_S
    asked = {item.name_servers for item in view.answered if item.name_servers}
    if len(asked) > 1 and disagree(view.now.routes.get(topic, {}).values()):
        return SETTLES_S
    some = all(view.members[client_id].queues.get(topic) for client_id in wanting)
    return SETTLES_S if settled(view, topic) is None and some else NEW_ROUTE_S


def _shared_out_differently(view: GroupView) -> bool:
    """Whether members use different strategies: RC0207 reports them, and what follows."""
    return len({item.strategy for item in view.answered} - {""}) > 1


def _explained(view: GroupView, topic: str) -> set[Queue]:
    """Queues without an owner that another finding explains: of members that don't want the topic, RC0106; where
    members share out differently, RC0207; where one id counts as several members, RC0201."""
    if _shared_out_differently(view) or has_id_twice(view):
        return set(view.queues(topic))
    wanting = view.own(topic)
    explained: set[Queue] = set()
    for client_id, share in shares(view, topic).items():
        if client_id not in wanting:
            explained.update(share or ())
    return explained


def _evidence(view: GroupView, topic: str) -> tuple[Evidence, ...]:
    said = [
        Evidence(
            item.exchange,
            f"{item.client_id} has {queues_text(item.queues.get(topic, {})) or 'no queue'} of {topic}",
        )
        for item in view.answered
    ]
    route = view.route(topic)
    if route is not None:
        said.append(Evidence(route.exchange, f"the topic has the queues {queues_text(view.queues(topic))}"))
    return tuple(said)


CHECKS = (
    Check(
        "RC0301",
        "queues have no owner",
        Level.ERROR,
        "every queue has an owner",
        "Messages in these queues wait until a member owns the queue, or retention deletes them.",
        (
            "Find out why no member takes the queue: an old route, a strategy with configured queues or one that "
            "throws (the client's log has it), a member that is paused (`suspend()`), which takes no queue, or a "
            "broker with another list of members.",
            "Resume the paused member; otherwise restart the members that should own it, one after the other.",
        ),
        ("B04", "D05", "F24"),
        by_members=True,
        of_group=unowned,
    ),
    Check(
        "RC0302",
        "queues have several owners",
        Level.ERROR,
        "no queue has several owners",
        "Each owner that consumes gets the messages, and the owners overwrite each other's offsets.",
        (
            "Find out why they see different members: two processes with one client id (RC0201), brokers that "
            "know different members (RC0209), name servers that know different brokers (RC0801), or a member that "
            "is paused (`suspend()`), which keeps the queues it had.",
            "Resume the paused member; otherwise restart the owners, one after the other.",
            "Let members that choose their queues by themselves (`assign()`, a strategy with configured queues) "
            "choose different ones.",
        ),
        ("F23",),
        by_members=True,
        of_group=several_owners,
    ),
    Check(
        "RC0303",
        "some members own no queue",
        Level.INFO,
        "every member owns a queue",
        "None: these members are idle until another one leaves.",
        ("Add queues to the topic, or remove members: members without a queue consume nothing.",),
        ("F24",),
        by_members=True,
        of_group=idle,
    ),
)
