"""A message that a group's offset has passed, though no listener got it, where the queues are shared. Pure.

A receive (POP) is served from every queue, by the expression that it carries itself. Messages that don't match are
skipped for the whole group: `PopMessageProcessor` moves the group's offset on with what one member's receive
skipped (`PopBufferMergeService.addCkMock`, 5.3.3 and 5.5.0), so that a member whose expression matches never gets
it. A message that matches by its tag's hash alone is acknowledged without being handed over: by the proxy
(`PopMessageResultFilterImpl`), or by a client that filters itself (`DefaultMQPushConsumerImpl.processPopResult`).

A message that matches is popped: it belongs to one member until that member acknowledges it, or the invisible time
is over and it comes again. The offset passes that too. So a message that some members' receives skip and others'
pop was skipped only if it would have come by now, had it been popped.
"""

from enum import Enum

from rocketchaos.assertions.case import Case, in_words
from rocketchaos.assertions.on_the_way import POPPED_MS, REVIVING_MS, natural_delay_ms, retry_delay_ms
from rocketchaos.assertions.too_early import TooEarly, latest
from rocketchaos.harness.core.events.messages import Consumed
from rocketchaos.harness.core.events.observed import DeadLettersObserved
from rocketchaos.harness.core.events.servers import GroupConfigured
from rocketchaos.harness.core.model import Event, MessageClass, MessageFate
from rocketchaos.harness.language.expressions import Expression
from rocketchaos.harness.language.tags import client_matches, pulled_matches
from rocketchaos.harness.rocketmq.client_kinds import Api

_LETS_GO = frozenset({"consumer-stopped", "fault-effective", "fault-healed"})
"""The events that may separate a member from the messages that it has popped."""


def fate_of_unacknowledged(
    case: Case, answer: Event[Consumed], reconsume_times: int
) -> tuple[MessageClass, str]:
    """The class of a message whose last listener failed, and why: a member that shares the queues acknowledges no
    such message, and its broker brings it again once it is visible.

    Nothing proves that the broker still has it: `PopReviveService` skips some (apache/rocketmq#7914, #8479). So
    once it should have come, its fate is open.
    """
    spec = case.spec(answer.node)
    delays = (POPPED_MS, REVIVING_MS + retry_delay_ms(None, reconsume_times))
    chosen = (spec.invisible, spec.behaviour.change_invisible)
    due_ms = max(*delays, *(REVIVING_MS + int(own) for own in chosen if own is not None))
    now_ns = case.view.events[case.at - 1].mono_ns
    failed = "the last listener failed, so that nothing acknowledged it"
    if now_ns < answer.mono_ns + due_ms * 1_000_000:
        return MessageClass.IN_RETRY, f"{failed}: its broker brings it again once its invisible time is over"
    late_s = (now_ns - answer.mono_ns) // 1_000_000_000
    return (
        MessageClass.UNDETERMINED,
        f"{failed}; it has not come again within {late_s} s: whether its broker still has it, or skipped it, "
        "isn't to be seen",
    )


class _Served(Enum):
    """The fate of a message when a member's receive is served."""

    POPPED = "takes it"
    SKIPPED = "has it skipped"
    DROPPED = "drops it"
    ONLY_THE_BROKER_KNOWS = "filters by SQL"


def fate_of_popped(case: Case, passed: Event, asking: list[str]) -> MessageFate:
    """Skipped by a receive of one of these members, dropped, in a member's hands, given up, lost, or not to be
    known."""
    if not set(asking) & set(case.view.online(case.message.invoked_n, case.group)):
        return case.undetermined(
            "the offset passed it, and no member of the group was online when it was sent: where the first "
            "receive began is not to be seen",
            [passed],
        )
    by_member = {
        name: {
            _served(case.traits(name), own_expression, case.message.tag)
            for own_expression in case.own_expressions(name, passed)
        }
        for name in asking
    }
    possible = set().union(*by_member.values())
    text = "the receives carried their members' own expressions: " + ", ".join(
        f"{name} {in_words(case.own_expressions(name, passed))}" for name in asking
    )
    if possible == {_Served.POPPED}:
        if (configured := _without_attempts(case, passed, asking)) is not None:
            return _given_up_at_once(case, passed, configured)
        return _nobody_skips(case, passed, text, asking)
    taking = [name for name, own in by_member.items() if own - {_Served.SKIPPED, _Served.DROPPED}]
    filtering = possible & {_Served.SKIPPED, _Served.DROPPED}
    if len(filtering) != 1:
        why = (
            "which only the broker evaluates"
            if not filtering
            else "and it was skipped for one of them, or dropped after another one's receive"
        )
        return case.undetermined(f"the offset passed it; {text}, {why}", [passed])
    (how,) = filtering
    whose = ", ".join(name for name, own in by_member.items() if how in own)
    counts = {name: _accounted(case, name, passed) for name in taking}
    open_ones = [name for name, event in counts.items() if event is None]
    early = _may_still_come(case, passed, open_ones) if taking else None
    if early is not None:
        return case.made(
            MessageClass.UNDETERMINED,
            f"the offset passed it; {text}: a receive of {whose} {how.value}, or {', '.join(taking)} popped it, "
            f"and {early}",
            [passed],
            not_before_ns=early.not_before_ns,
        )
    known = [event for event in counts.values() if event is not None]
    accounted = ", ".join(name for name, event in counts.items() if event is not None)
    without = f"; the listener of {accounted} got all that its client was sent" if accounted else ""
    without += f"; had {' or '.join(open_ones)} popped it, it would have come by now" if open_ones else ""
    if how is _Served.SKIPPED:
        return case.made(
            MessageClass.FILTERED_BY_BROKER,
            f"a receive of {whose} was served, and skipped it for the whole group; {text}{without}",
            [passed, *known],
        )
    return case.made(
        MessageClass.FILTERED_BY_CLIENT,
        f"a receive of {whose} was answered with it, its tag's hash being that of another one, and its client "
        f"dropped and acknowledged it, for the whole group; {text}{without}",
        [passed, *known],
    )


def _served(traits: Api, expression: Expression, tag: str | None) -> _Served:
    matches = pulled_matches(expression, tag)
    if matches is None:
        return _Served.ONLY_THE_BROKER_KNOWS
    if not matches:
        return _Served.SKIPPED
    if client_matches(expression, tag):
        return _Served.POPPED
    # The proxy acknowledges it before the client hears of it: to the client the broker's side has skipped it.
    return _Served.DROPPED if traits.filters_itself else _Served.SKIPPED


def _accounted(case: Case, consumer: str, passed: Event) -> Event | None:
    """The client's counts that show that its listener got all that it was sent by the passing; None: not shown."""
    counts = case.pull_counts(consumer)
    shows = counts is not None and counts.n > passed.n and case.got_what_came(consumer, counts)
    return counts if shows else None


def _without_attempts(case: Case, passed: Event, asking: list[str]) -> Event[GroupConfigured] | None:
    """The settings of the group by which the proxy gives a message no attempt: a retryMaxTimes below 0.

    The proxy takes retryMaxTimes + 1 for the number of attempts (`GrpcClientSettingsManager.mergeMetric`), and
    sends a message that has had as many to the dead-letter queue (`PopMessageResultFilterImpl`, 5.1.1 and 5.3.3).
    """
    seen = [e for e in case.view.of_kind(GroupConfigured, until=passed.n) if e.body.group == case.group]
    most = seen[-1].body.settings.get("retryMaxTimes") if seen else None
    below = isinstance(most, int) and most < 0
    return seen[-1] if below and all(case.view.kind_of_client(name).needs_proxy for name in asking) else None


def _given_up_at_once(case: Case, passed: Event, configured: Event[GroupConfigured]) -> MessageFate:
    """A dead letter, if the group has as many as it has messages that no listener got."""
    most = configured.body.settings["retryMaxTimes"]
    reason = (
        f"the group's retryMaxTimes is {most}: the proxy gives its messages no attempt, and makes each a dead "
        "letter before a listener gets it"
    )
    members, topics = case.view.scenario.members(case.group), case.view.scenario.topics_of(case.group)
    for looked in case.view.of_kind(DeadLettersObserved, until=case.at):
        got = {delivery.key for delivery in case.view.deliveries(looked.n, members)}
        sent = [message for message in case.view.sent_until(looked.n) if message.topic in topics]
        never = [message for message in sent if message.key not in got]
        if looked.body.group == case.group and looked.n > passed.n and looked.body.count >= len(never):
            return case.made(MessageClass.DEAD_LETTER, reason, [configured, passed, looked])
    return case.undetermined(
        f"{reason}; the group's dead-letter queue had fewer when last seen", [configured, passed]
    )


def _nobody_skips(case: Case, passed: Event, text: str, asking: list[str]) -> MessageFate:
    """Every receive takes it: so one has popped it."""
    early = _may_still_come(case, passed, asking, POPPED_MS)
    if early is not None:
        return case.made(
            MessageClass.IN_FLIGHT,
            f"the offset passed it, so one of {', '.join(asking)} popped it, and {early}; {text}",
            [passed],
            not_before_ns=early.not_before_ns,
        )
    return case.made(
        MessageClass.LOST,
        f"the offset passed it; {text}, which all match, and no listener got it, though what was popped and not "
        "acknowledged would have come again by now",
        [passed],
    )


def _may_still_come(case: Case, passed: Event, taking: list[str], least_ms: int = 0) -> TooEarly | None:
    """Why it may still come to a listener, had one of these members popped it; None: it would be there.

    At once, that is: what a member popped that then went, stood still or was cut off comes again once the
    invisible time is over, and so does what it was sent and never saw.
    """
    view, at = case.view, case.at
    standing = [name for name in taking if name in view.paused(at)]
    if standing:
        return TooEarly(f"{', '.join(standing)} is paused")
    blocked = [name for name in taking if view.blocked(name, at)]
    if blocked:
        return TooEarly(f"the listener of {', '.join(blocked)} is blocked")
    trouble = [f"{node} is away" for node in view.nodes_away(at)]
    trouble += [f"a {fault} is in effect" for fault in view.network_faults(at)]
    if trouble:
        return TooEarly(", ".join(trouble))
    waits: list[tuple[Event, int, str]] = []
    if taking:
        delay_ms = natural_delay_ms(view.timing)
        busy = [delivery.event for delivery in view.deliveries(at, view.scenario.members(case.group))][-1:]
        waits += [(event, delay_ms, "a listener of the group was last busy") for event in busy]
        waits.append((passed, max(least_ms, delay_ms), "the offset was seen to have passed it"))
    disturbed = view.last_disturbance([case.group], at, _LETS_GO)
    if disturbed is not None and disturbed.n > case.message.invoked_n:
        waits.append((disturbed, POPPED_MS, f"{disturbed.kind} {disturbed.node} (event {disturbed.n})"))
    not_before_ns = latest(event.mono_ns + limit_ms * 1_000_000 for event, limit_ms, _ in waits)
    for event, limit_ms, what in waits:
        if view.ms_between(event.n, at) < limit_ms:
            return TooEarly(f"less than {limit_ms // 1000} s ago {what}", not_before_ns)
    return None
