"""Whether a run has waited long enough to say that nothing more will come. Pure."""

from rocketchaos.assertions.case import Case
from rocketchaos.assertions.on_the_way import LOCK_MS, LOST_PULL_MS, ORDERLY_MS, POPPED_MS, natural_delay_ms
from rocketchaos.assertions.oracle import fate_of
from rocketchaos.assertions.too_early import TooEarly
from rocketchaos.assertions.view import RunView, Sent
from rocketchaos.harness.core.model import Event, MessageClass

_OPEN = (MessageClass.IN_FLIGHT, MessageClass.STRANDED, MessageClass.UNDETERMINED)


def still_possible(view: RunView, groups: list[str], messages: list[Sent], at: int) -> TooEarly | None:
    """None if every message's fate is certain at event `at`; otherwise why it is too early to say.

    Sealed: the observed offset of each group that subscribes to its topic has passed it, and nobody holds on to
    it who may have popped it; or for so long that nothing can be on its way (`assertions.on_the_way`) nothing has
    happened to it or to these groups (it was sent, a member came, went or subscribed again, a node died or came
    back, an offset was set), neither a member nor a node stands still or is away, and nothing is wrong with the
    network.
    """
    end = next((event for event in view.events if event.n == at), None)
    if end is None:
        return TooEarly("the observation was not completed")
    topics = {
        group: {
            topic
            for name in view.scenario.members(group)
            for topic in view.own_subscriptions.topics(name, at)
        }
        for group in groups
    }
    waiting = [
        message
        for message in messages
        if not all(_sealed(view, group, message, at) for group in groups if message.topic in topics[group])
    ]
    if not waiting:
        return None
    members = {member for group in groups for member in view.scenario.members(group)}
    paused = sorted(members & set(view.paused(at)))
    if paused:
        return TooEarly(f"too early to say: {len(waiting)} messages wait, and {', '.join(paused)} is paused")
    away = view.nodes_away(at)
    if away:
        return TooEarly(f"too early to say: {len(waiting)} messages wait, and {', '.join(away)} is away")
    faults = view.network_faults(at)
    if faults:
        return TooEarly(
            f"too early to say: {len(waiting)} messages wait, and the network has a {' and a '.join(faults)}"
        )
    return _quiet_for_too_short(view, groups, waiting, end)


def _quiet_for_too_short(
    view: RunView, groups: list[str], waiting: list[Sent], end: Event
) -> TooEarly | None:
    """None if nothing has happened to these messages and groups for long enough."""
    limit_ms = patience_ms(view, groups, end.n)
    last = view.last_disturbance(groups, end.n)
    moments = [sent.event for sent in waiting] + ([] if last is None else [last])
    not_before_ns = max(moment.mono_ns for moment in moments) + limit_ms * 1_000_000
    young = [sent for sent in waiting if (end.mono_ns - sent.event.mono_ns) / 1e6 < limit_ms]
    if young:
        return TooEarly(
            f"too early to say: {len(young)} messages wait ahead of the group's offset and were sent less than "
            f"{limit_ms // 1000} s before",
            not_before_ns,
        )
    if last is not None and (end.mono_ns - last.mono_ns) / 1e6 < limit_ms:
        return TooEarly(
            f"too early to say: {len(waiting)} messages wait ahead of the group's offset, and less than "
            f"{limit_ms // 1000} s before something happened to it: {last.kind} {last.node} (event {last.n})",
            not_before_ns,
        )
    return None


def patience_ms(view: RunView, groups: list[str], at: int) -> int:
    """How long nothing must happen before event `at`, so that nothing can still be on its way to these groups."""
    members = {member for group in groups for member in view.scenario.members(group)}
    limit_ms = natural_delay_ms("faithful" if _own_timers(view, members) else view.timing)
    killed = view.killed(members, at)
    if any(view.traits(name).queues == "shared" for name in killed):
        limit_ms = max(limit_ms, POPPED_MS)
    if any(view.scenario.consumers[name].listener == "orderly" for name in members):
        limit_ms = max(limit_ms, ORDERLY_MS)
    if any(view.scenario.consumers[name].listener == "orderly" for name in killed):
        limit_ms = max(limit_ms, LOCK_MS)
    if view.brokers_disturbed(at):
        limit_ms = max(limit_ms, LOST_PULL_MS)
    return limit_ms


def _sealed(view: RunView, group: str, message: Sent, at: int) -> bool:
    """Whether the group's offset has passed it. If it also passes popped ones, none may be outstanding."""
    if view.first_passed(group, message, at) is None:
        return False
    if not view.shares_queues(group):
        return True
    return fate_of(Case(view, group, message, at)).message_class not in _OPEN


def _own_timers(view: RunView, members: set[str]) -> bool:
    """Whether any of these has timers that can't be shortened, or holds a receive until its poll is over."""
    return any(
        view.traits(name).queues == "shared" or not view.kind_of_client(name).compressed for name in members
    )
