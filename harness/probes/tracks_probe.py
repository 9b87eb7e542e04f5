"""What RocketMQ's own tools say became of messages: DefaultMQAdminExt.messageTrackDetail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from rocketchaos.assertions.track_series import TrackSeries
from rocketchaos.harness.clients.producer import Acknowledged
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events.observed import TracksObserved
from rocketchaos.harness.probes.observations import one_at_a_time

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

_AT_ONCE = 4
TRACK_LIMIT = 1_000
"""Tracks are read of at most this many messages at a moment; each takes some milliseconds."""
WATCHED_LIMIT = 50
"""Tracks are watched of at most this many messages of a topic, or a look would take longer than a change."""


@one_at_a_time
def read_tracks(context: ProbeContext, messages: Iterable[Acknowledged], moment: str | None = None) -> None:
    """Ask for the tracks of messages, some at a time, and write down the answers in their order."""

    def ask(message: Acknowledged) -> tuple[Acknowledged, int, Mapping[str, Any] | RequestFailed]:
        began_ns = context.now_ns()
        try:
            answer = context.admin.tracks(context.names.real(message.topic), message.offset_msg_id)
        except RequestFailed as failure:
            return message, began_ns, failure
        return message, began_ns, answer

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="tracks") as pool:
        for message, began_ns, answer in pool.map(ask, messages):
            _write_down(context, message, moment, began_ns, answer)


def _write_down(
    context: ProbeContext,
    message: Acknowledged,
    moment: str | None,
    began_ns: int,
    answer: Mapping[str, Any] | RequestFailed,
) -> None:
    if isinstance(answer, RequestFailed):
        context.observations.note_failure("tracks", str(answer), key=message.key)
        return
    own = {
        group: track
        for track in answer["tracks"]
        if (group := context.names.scenario(track["group"])) in context.scenario.groups
    }
    seen = {
        "topic": message.topic,
        "key": message.key,
        "tracks": {g: item["type"] for g, item in own.items()},
    }
    # Why the tools could not tell: UNKNOWN is also what they say where a call of their own failed.
    exceptions = {group: item["exception"] for group, item in own.items() if item["exception"]}
    context.observations.write(
        f"tracks {message.key}",
        TracksObserved.kind,
        {**seen, "exceptions": exceptions} if exceptions else seen,
        moment,
        began_ns,
    )


def watch_tracks(context: ProbeContext) -> None:
    """Ask for the tracks of the messages of the topics of which a `track-series` check wants the course."""
    topics = {check.topic for _, _, check in context.scenario.checks() if isinstance(check, TrackSeries)}
    for topic in sorted(topics):
        own = [message for message in context.producer.acknowledged if message.topic == topic]
        read_tracks(context, own[:WATCHED_LIMIT])
