"""Everything about a run, read at one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.probes.offsets import read_offsets
from harness.probes.ownership import read_ownership
from harness.probes.subscription import read_subscription
from harness.workers.handle import WorkerFailed

if TYPE_CHECKING:
    from harness.context import RunContext

TRACK_LIMIT = 1_000
"""Tracks are read of so many messages at most; each takes some milliseconds."""


def observe_moment(context: RunContext, moment: str) -> None:
    """Write down subscriptions, ownership, offsets, pull counts and tracks, under the name of the moment.

    Listeners' events come first: each worker is asked for a sign of life, which arrives after all that it
    wrote before.
    """
    for consumer in context.running_consumers():
        consumer.flush_events()
    for group in context.scenario.groups:
        for broker in context.broker_addresses:
            read_subscription(context, group, broker, moment)
        for topic in context.topics_of(group):
            read_offsets(context, group, topic, moment)
    for consumer in context.running_consumers():
        _read_member(context, consumer.name, moment)
    _read_tracks(context, moment)
    context.history.append("harness", "moment-observed", {"moment": moment})


def _read_member(context: RunContext, name: str, moment: str) -> None:
    try:
        read_ownership(context, name, moment)
    except WorkerFailed as failure:
        # A member that the broker doesn't know has no queues to report; checks then answer `unknown`.
        context.note_probe_failure("ownership", str(failure), consumer=name)
    for topic in context.scenario.consumers[name].subscribe:
        counts = context.consumers[name].pull_counts(topic)
        context.observe(
            f"pull-counts {name} {topic}",
            "pull-counts-observed",
            {"consumer": name, "topic": topic, **counts},
            moment,
        )


def _read_tracks(context: RunContext, moment: str) -> None:
    for message in context.producer.acknowledged[:TRACK_LIMIT]:
        try:
            answer = context.admin.tracks(context.real_topic(message.topic), message.offset_msg_id)
        except WorkerFailed as failure:
            context.note_probe_failure("tracks", str(failure), key=message.key)
            continue
        tracks = {
            context.name_of_group(one["group"]): one["type"]
            for one in answer["tracks"]
            if context.name_of_group(one["group"]) in context.scenario.groups
        }
        context.observe(
            f"tracks {message.key}",
            "tracks-observed",
            {"topic": message.topic, "key": message.key, "tracks": tracks},
            moment,
        )
