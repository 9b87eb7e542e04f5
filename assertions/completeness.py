"""Whether a run has waited long enough to say that nothing more will come. Pure."""

from __future__ import annotations

from assertions.view import RunView, Sent

NATURAL_DELAY_MS = {"compressed": 6_000, "faithful": 30_000}
"""What has not come by then, without a fault, is not on its way. Deliveries were seen up to 1 s after the sending,
and up to 5 s after the stored subscription changed under members that held long polls. With RocketMQ's own timers
a rebalance (20 s) and a held pull that has to turn over can come before that."""
LOCK_MS = 65_000
"""An orderly consumer's queues stay locked for 60 s when it dies (RebalanceLockManager, 4.9.4)."""


def still_possible(view: RunView, groups: list[str], messages: list[Sent], at: int) -> str | None:
    """None where every message's fate is sealed at event `at`; otherwise why it is too early to say.

    Sealed: the observed offset of each group that subscribes to its topic has passed it; or for
    `NATURAL_DELAY_MS` nothing has happened to it or to these groups (it was sent, a member came, went or
    subscribed anew, a node died or came back, an offset was set), neither a member nor a node stands still or is
    away, and nothing is wrong with the network.
    """
    end = next((event for event in view.events if event.n == at), None)
    if end is None:
        return "the observation was not completed"
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
        if not all(
            view.first_passed(group, message, at) for group in groups if message.topic in topics[group]
        )
    ]
    if not waiting:
        return None
    members = {member for group in groups for member in view.scenario.members(group)}
    paused = sorted(members & set(view.paused(at)))
    if paused:
        return f"too early to say: {len(waiting)} messages wait, and {', '.join(paused)} is paused"
    away = view.nodes_away(at)
    if away:
        return f"too early to say: {len(waiting)} messages wait, and {', '.join(away)} is away"
    faults = view.network_faults(at)
    if faults:
        return (
            f"too early to say: {len(waiting)} messages wait, and the network has a {' and a '.join(faults)}"
        )
    limit_ms = NATURAL_DELAY_MS.get(view.timing, NATURAL_DELAY_MS["faithful"])
    if any(view.scenario.consumers[name].listener == "orderly" for name in view.killed(members, at)):
        limit_ms = max(limit_ms, LOCK_MS)
    young = [one for one in waiting if (end.mono_ns - one.event.mono_ns) / 1e6 < limit_ms]
    if young:
        return (
            f"too early to say: {len(young)} messages wait ahead of the group's offset and were sent less than "
            f"{limit_ms // 1000} s before"
        )
    last = view.last_disturbance(groups, at)
    if last is not None and (end.mono_ns - last.mono_ns) / 1e6 < limit_ms:
        return (
            f"too early to say: {len(waiting)} messages wait ahead of the group's offset, and less than "
            f"{limit_ms // 1000} s before something happened to it: {last.kind} {last.node} (event {last.n})"
        )
    return None
