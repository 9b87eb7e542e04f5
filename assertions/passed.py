"""A message that the group's offset has passed, though no listener got it: which filter took it? Pure.

The broker filters a pull by the subscription that it holds for the group, or by the pull's own expression
where it carries one; then the client of the queue's owner filters by its own tags. Where the broker's filter
is SQL, only the broker can say what matches: that it skipped a message is concluded only where the owner's
client counted no message that its listener didn't get.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from rocketchaos.assertions.case import Case, in_words
from rocketchaos.assertions.on_the_way import SHOWN_LATE_MS
from rocketchaos.assertions.popped import fate_of_popped
from rocketchaos.harness.core.events.clients import HeartbeatSent
from rocketchaos.harness.core.events.observed import OwnershipObserved, PullCountsObserved
from rocketchaos.harness.core.model import Event, MessageClass, MessageFate
from rocketchaos.harness.language.tags import client_matches, pulled_matches, stored_matches

Owners = Mapping[str, list[Event[OwnershipObserved]]]
"""The owners of a queue, each with the looks that prove it."""


def _observations(owners: Owners) -> list[Event]:
    return [event for observations in owners.values() for event in observations]


def fate_of_passed(case: Case, passed: Event) -> MessageFate:
    """Filtered by the broker or the client, lost, or not to be known."""
    reset = case.reset_beyond(passed.n)
    if reset is not None:
        return case.undetermined("a step set the offset past it: no member had to pull it", [reset, passed])
    tool = case.set_by_a_tool(passed.n)
    if tool is not None:
        return case.undetermined(
            "a tool that sets offsets ran before the group's offset passed it: no member may have pulled it",
            [tool, passed],
        )
    asking = case.asking(passed) if case.view.shares_queues(case.group) else []
    if any(case.traits(name).queues == "shared" for name in asking):
        if any(case.traits(name).queues == "owned" for name in asking):
            return _passed_by_either(case, passed, asking)
        return fate_of_popped(case, passed, asking)
    owners = case.owners(passed.n)
    carriers = [
        name
        for name in owners or case.view.scenario.members(case.group)
        if case.traits(name).filters_by == "own"
    ]
    if carriers:
        return _passed_by_own_filter(case, passed, owners, carriers)
    stored = case.stored(passed.n)
    if stored is None:
        return (
            _whatever_was_stored(case, passed)
            or _older_than_the_group(case, passed)
            or case.undetermined(
                "the offset passed it, but no two looks, before the sending and after the passing, show the same "
                "stored subscription",
                [passed, *case.observations_of_stored(passed.n)],
            )
        )
    proof = [passed, *stored.observations]
    held = f"the broker held {stored.expression!r}"
    if stored.matches is None:
        return _by_sql(
            case, f"the broker held the SQL {stored.expression!r}", proof, owners, stored.expression
        )
    if not stored.matches:
        return case.made(
            MessageClass.FILTERED_BY_BROKER,
            f"{held} and skipped tag {case.message.tag!r}",
            proof,
            stored=stored.expression,
        )
    if not owners:
        return case.undetermined(
            f"{held}, which matches, and the offset passed it; but no two looks, before the sending and after the "
            "passing, show the same owner of its queue",
            proof,
            stored=stored.expression,
        )
    return _sent_to_owner(case, passed, held, proof, owners, stored.expression)


def _passed_by_own_filter(case: Case, passed: Event, owners: Owners, carriers: list[str]) -> MessageFate:
    """The broker filtered by the expression in each pull of these members, not by the stored one."""
    proof = [passed, *_observations(owners)]
    if set(carriers) != set(owners):
        whoever = _whoever_pulled(case, passed)
        if whoever is not None:
            return whoever
        if (older := _older_than_the_group(case, passed)) is not None:
            return older
        who = ", ".join(carriers)
        return case.undetermined(
            f"the offset passed it, and who owned the queue was not observed all the time, or changed: the pulls "
            f"of {who} carry their own expression, by which the broker filters them",
            proof,
        )
    unknown = case.own_unknown(carriers, passed.n)
    if unknown:
        return case.undetermined(
            f"the offset passed it, and the own subscription of {', '.join(unknown)} is unknown: its client does "
            "not report it",
            proof,
        )
    own = list(
        dict.fromkeys(
            own_expression for name in carriers for own_expression in case.own_expressions(name, passed)
        )
    )
    text = f"the pulls of {', '.join(carriers)} carried {in_words(own)}"
    verdicts = {pulled_matches(carrier, case.message.tag) for carrier in own}
    if verdicts == {False}:
        return case.made(
            MessageClass.FILTERED_BY_BROKER,
            f"{text}, and the broker skipped tag {case.message.tag!r}",
            proof,
        )
    if verdicts == {None}:
        return _by_sql(case, text, proof, owners, None)
    if verdicts != {True}:
        return case.undetermined(f"the offset passed it while the filter changed: {text}", proof)
    return _sent_to_owner(case, passed, text, proof, owners, None)


def _passed_by_either(case: Case, passed: Event, asking: list[str]) -> MessageFate:
    """Some members own queues, and others are served from all of them."""
    return _whoever_pulled(case, passed) or case.undetermined(
        f"the offset passed it, which both the pulls of a queue's owner move and the receives of those who are "
        f"served from every queue: whose did among those of {', '.join(asking)} is not to be seen",
        [passed],
    )


def _whoever_pulled(case: Case, passed: Event) -> MessageFate | None:
    """Where no member can have pulled it by an expression that matches, it doesn't matter who owned the queue.

    If it was a pull that moved the offset: a group without offsets may as well begin behind the message.
    """
    asking = case.asking(passed)
    before = set(case.view.online(case.message.invoked_n, case.group))
    if not before or any(case.spec(name).consume_from != "first-offset" for name in asking):
        return None
    if case.own_unknown(asking, passed.n):
        return None
    own = {name: case.own_expressions(name, passed) for name in asking}
    carried = all(case.traits(name).filters_by == "own" for name in asking)
    if not carried or any(
        pulled_matches(item, case.message.tag) is not False for mine in own.values() for item in mine
    ):
        return None
    text = ", ".join(f"{name} {in_words(mine)}" for name, mine in own.items())
    return case.made(
        MessageClass.FILTERED_BY_BROKER,
        f"whoever owned the queue, the broker skipped tag {case.message.tag!r}: every pull carried its "
        f"member's own expression, of {text}",
        [passed],
    )


def _whatever_was_stored(case: Case, passed: Event) -> MessageFate | None:
    """Where no member ever subscribed to its tag, it doesn't matter when the broker was looked at.

    Once it was seen to hold a subscription of the group, one of the members has sent it. Only
    Java's clients tell it codes that follow from the expression.
    """
    view, message = case.view, case.message
    members = view.online_between(case.group, 0, passed.n)
    hand_made = [
        item for item in view.of_kind(HeartbeatSent, until=passed.n) if item.body.group == case.group
    ]
    # From the first offset: whoever comes later pulls what was sent before.
    if (
        hand_made
        or case.own_unknown(members, passed.n)
        or any(
            case.traits(name).filters_by != "stored" or case.spec(name).consume_from != "first-offset"
            for name in members
        )
    ):
        return None
    observations = case.observations_of_stored(passed.n)
    entries = [observation.body.subscriptions.get(message.topic) for observation in observations]
    seen = [stored_matches(entry, message.tag) for entry in entries if entry is not None]
    own = {name: view.own_subscriptions.between(name, message.topic, 0, passed.n) for name in members}
    own_known = {name: [item for item in mine if item is not None] for name, mine in own.items()}
    brought = [pulled_matches(item, message.tag) for mine in own_known.values() for item in mine]
    if not (seen and brought) or any(matches is not False for matches in (*seen, *brought)):
        return None
    who = ", ".join(f"{name} subscribes {in_words(mine)}" for name, mine in own_known.items() if mine)
    return case.made(
        MessageClass.FILTERED_BY_BROKER,
        f"the broker skipped tag {message.tag!r}, whichever member's subscription it held: {who}",
        [passed, *observations],
    )


def _older_than_the_group(case: Case, passed: Event) -> MessageFate | None:
    """Sent before the group's first member started: a group without offsets may begin behind it, unless a member
    got an earlier message of its queue."""
    members = case.view.online_between(case.group, 0, passed.n)
    if case.view.online_between(case.group, 0, case.message.invoked_n) or not members:
        return None
    if any(
        delivery.queue == case.message.queue and delivery.event.body.offset < case.message.offset
        for delivery in case.view.deliveries(passed.n, members)
        if delivery.event.body.offset is not None
    ):
        return None
    where = ", ".join(f"{name} {case.spec(name).consume_from}" for name in members)
    return case.undetermined(
        "it was sent before a member of the group started: a group without offsets begins where its consumer says "
        f"({where}), which may be behind it",
        [passed],
    )


def _sent_to_owner(
    case: Case, passed: Event, text: str, proof: list[Event], owners: Owners, stored: str | None
) -> MessageFate:
    """The broker's filter let it pass, so the queue's owner was sent it."""
    own = {name: case.own_expressions(name, passed) for name in owners}
    drops = [
        case.traits(name).filters_itself and not client_matches(expression, case.message.tag)
        for name, expressions in own.items()
        for expression in expressions
    ]
    if not all(own.values()):  # an owner that doesn't subscribe drops nothing that anybody could see
        drops.append(False)
    owner = ", ".join(owners)
    proof = list({event.n: event for event in [*proof, *_observations(owners)]}.values())
    made = partial(case.made, owner=owner, stored=stored)
    undetermined = partial(case.undetermined, owner=owner, stored=stored)
    unknown = case.own_unknown(owners, passed.n)
    if unknown:
        return undetermined(
            f"{text} and sent it to the queue's owner; the own subscription of {', '.join(unknown)} is unknown",
            proof,
        )
    if all(drops):
        subscribed = ", ".join(f"{name} subscribes {in_words(own[name])}" for name in owners)
        counts = [event for event in (case.pull_counts(name) for name in owners) if event is not None]
        counted = "".join(
            f" ({event.body.consumer}: {event.body.found_pulls} pulls with messages, "
            f"{event.body.passed_messages} messages passed its filter)"
            for event in counts
        )
        return made(
            MessageClass.FILTERED_BY_CLIENT,
            f"{text} and sent it to the queue's owner; {subscribed}, and its client dropped it{counted}",
            [*proof, *counts],
        )
    counted_by = {name: case.pull_counts(name) for name in owners}
    if any(drops) and all(item and case.got_what_came(name, item) for name, item in counted_by.items()):
        known = [event for event in counted_by.values() if event is not None]
        return made(
            MessageClass.FILTERED_BY_CLIENT,
            f"{text} and sent it to the queue's owner; {owner} let nothing through that its listener didn't get, "
            "so its client dropped it: it subscribed again, and filters what a pull brings by the expression of "
            "the pull's beginning",
            [*proof, *known],
        )
    if any(drops):
        how = (
            f"the queue changed hands between {owner} before the offset passed it; one of them drops its tag, the "
            "other doesn't"
            if len(owners) > 1
            else f"{owner} changed its own subscription meanwhile from one that drops its tag to one that "
            "doesn't, or back"
        )
        return undetermined(how, proof)
    silent = case.view.seen_from_outside(owners)
    if silent:
        may_show = any(case.view.traits(name).seen_by != "offsets" for name in silent)
        return undetermined(
            f"{text} and sent it to {owner}, which {case.view.nothing_shown(silent)}: that proves neither that it "
            "was handled nor that it wasn't",
            proof,
            not_before_ns=passed.mono_ns + SHOWN_LATE_MS * 1_000_000 if may_show else None,
        )
    return made(
        MessageClass.LOST,
        f"{text}, and that and the own subscription of {owner} both match, the offset passed it, and no "
        "listener got it",
        proof,
    )


def _by_sql(case: Case, text: str, proof: list[Event], owners: Owners, stored: str | None) -> MessageFate:
    """The broker's filter was SQL all the time; the clients' counts say whether it can have sent it to anybody."""
    owner = ", ".join(owners) or None
    counts = {name: case.pull_counts(name) for name in owners}
    known = [event for event in counts.values() if event is not None]
    proof = list({event.n: event for event in [*proof, *_observations(owners), *known]}.values())
    if not owners or len(known) < len(owners):
        missing = (
            ", ".join(name for name, event in counts.items() if event is None) or "whoever owned the queue"
        )
        return case.undetermined(
            f"{text}, which only the broker evaluates, the offset passed it, and the pull counts of {missing} "
            "were not observed: the broker's filter took it, or it is lost",
            proof,
            owner=owner,
            stored=stored,
        )
    unaccounted = [
        name for name, event in counts.items() if event is not None and not _all_got(case, name, event)
    ]
    if unaccounted:
        return case.undetermined(
            f"{text}, which only the broker evaluates, the offset passed it, and the client of "
            f"{', '.join(unaccounted)} was sent other messages than its listener got: the broker's filter took "
            "it, the client dropped it, or it is lost",
            proof,
            owner=owner,
            stored=stored,
        )
    return case.made(
        MessageClass.FILTERED_BY_BROKER,
        f"{text}, the offset passed it, and the client of {owner} was sent no message that its listener "
        "didn't get",
        proof,
        owner=owner,
        stored=stored,
    )


def _all_got(case: Case, consumer: str, counts: Event[PullCountsObserved]) -> bool:
    """Whether the listener got each message that was sent to the client, since its process started."""
    if any(
        not client_matches(own_expression, case.message.tag)
        for own_expression in case.own_expressions(consumer, counts)
    ):
        return False  # its own tags would have dropped it: what the broker did doesn't show
    return case.got_what_came(consumer, counts)
