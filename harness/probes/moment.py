"""Everything about a run, read at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rocketchaos.assertions.event_view import END
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events.observed import PullCountsObserved
from rocketchaos.harness.core.events.run import MomentObserved
from rocketchaos.harness.probes.command_probe import run_commands
from rocketchaos.harness.probes.consumer_status_probe import read_consumer_status
from rocketchaos.harness.probes.dead_letters_probe import TOPIC_NOT_EXIST, read_dead_letters
from rocketchaos.harness.probes.diagnosis_probe import read_diagnosis
from rocketchaos.harness.probes.logs_probe import read_logs
from rocketchaos.harness.probes.offsets_probe import read_offsets
from rocketchaos.harness.probes.ownership_probe import read_ownership
from rocketchaos.harness.probes.subscription_probe import read_subscription
from rocketchaos.harness.probes.tracks_probe import TRACK_LIMIT, read_tracks
from rocketchaos.harness.rocketmq.response_codes import NAME_SERVER_NOT_READY

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def observe_moment(context: ProbeContext, name: str, iteration: int | None = None) -> None:
    """Write down subscriptions, ownership, offsets, pull counts, tracks and dead letters, under the moment's name.

    Where the cluster has a dashboard, what that shows comes right behind the tracks.

    In an iteration of a `repeat` that is `NAME-1`, `NAME-2`, …; the last one completed counts as NAME too, and so
    does `end:2`, where the end was put off (`harness.engine.final_wait`).
    Listeners' events come first: each worker is asked for a sign of life, which arrives after all that it
    wrote before.
    """
    # No step can give the name of an end that was put off, `end:2`.
    moment = name if iteration is None else f"{name}{':' if name == END else '-'}{iteration}"
    for consumer in context.members.running():
        consumer.flush_events()
    for consumer in context.consumers.values():
        consumer.read_entries()
    context.producer.look_for_accepted()
    context.hand_made.flush()
    for group in context.scenario.groups:
        with _what_is_down(context, "group", group):
            _read_group(context, group, moment)
    for consumer in context.members.running():
        _read_member(context, consumer.name, moment)
    _look_again(context)
    read_consumer_status(context, moment)
    read_diagnosis(context, name, moment)
    run_commands(context, name, moment)
    if context.servers.down:
        # The tools ask every server for each message, and wait for those that are gone.
        context.observations.note_failure("tracks", _in_words(context.servers.down))
    else:
        read_tracks(context, context.producer.acknowledged[:TRACK_LIMIT], moment)
        if context.servers.cluster.dashboard is not None:
            from rocketchaos.harness.probes.dashboard_probe import read_dashboard

            read_dashboard(context, context.servers.cluster.dashboard, moment)
    read_logs(context, moment)
    said = MomentObserved(moment=moment, name=None if iteration is None else name, iteration=iteration)
    context.history.append("harness", said)


def _read_group(context: ProbeContext, group: str, moment: str) -> None:
    for broker in context.servers.keepers_of_group(group):
        read_subscription(context, group, broker, moment)
    for topic in context.members.topics_of(group):
        reason = context.servers.why_not_asked(topic)
        if reason is not None:
            context.observations.note_failure("offsets", reason, group=group, topic=topic)
            continue
        with _what_is_down(context, "offsets", group), _what_nobody_has_made(context, group, topic):
            read_offsets(context, group, topic, moment)
    read_dead_letters(context, group, moment)


def _look_again(context: ProbeContext) -> None:
    """Whether a group's members have stayed until they had named their queues, where no subVersion proves that.

    See `assertions.membership`. It is written down only where it differs.
    """
    unproven = {
        consumer.spec.group
        for consumer in context.members.running()
        if consumer.traits.tells_queues and not consumer.traits.raises_version
    }
    for group in unproven:
        with _what_is_down(context, "group", group):
            for broker in context.servers.keepers_of_group(group):
                read_subscription(context, group, broker)


@contextmanager
def _what_nobody_has_made(context: ProbeContext, group: str, topic: str) -> Iterator[None]:
    """A topic may not be there: a step has deleted it, or every message that would make it is refused."""
    try:
        yield
    except RequestFailed as failure:
        if failure.code != TOPIC_NOT_EXIST or not context.servers.may_lack(topic):
            raise
        context.observations.note_failure(
            "offsets", f"there is no such topic: {failure}", group=group, topic=topic
        )


@contextmanager
def _what_is_down(context: ProbeContext, probe: str, group: str) -> Iterator[None]:
    """A look that fails because a step has stopped a server, or cut its network, is not an error of the run.

    Nor is one that a name server refuses for a while after its start, by its own needWaitForService.
    """
    try:
        yield
    except RequestFailed as failure:
        faults = [f"{key} is in effect" for key, fault in context.faults.active().items() if fault.sides]
        if not context.servers.down and not faults and NAME_SERVER_NOT_READY not in str(failure):
            raise
        texts = (str(failure), ", ".join(filter(None, (_in_words(context.servers.down), *faults))))
        context.observations.note_failure(probe, "; ".join(filter(None, texts)), group=group)


def _in_words(down: Mapping[str, str]) -> str:
    return ", ".join(f"{node} is {how}" for node, how in down.items())


def _read_member(context: ProbeContext, name: str, moment: str) -> None:
    traits = context.consumers[name].traits
    if traits.tells_queues:
        try:
            read_ownership(context, name, moment)
        except RequestFailed as failure:
            # A member that the broker doesn't know has no queues to report; checks then answer `unknown`.
            context.observations.note_failure("ownership", str(failure), consumer=name)
    elif traits.queues == "owned":
        context.observations.note_failure(
            "ownership", "its client doesn't tell which queues it owns", consumer=name
        )
    for topic in context.consumers[name].topics:
        began_ns = context.now_ns()
        counts = context.consumers[name].pull_counts(topic)
        if counts is None:
            continue
        context.observations.write(
            f"pull-counts {name} {topic}",
            PullCountsObserved.kind,
            {"consumer": name, "topic": topic, **counts},
            moment,
            began_ns,
        )
