"""What RocketMQ's dashboard shows, where the cluster has one: the third witness after brokers and listeners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from rocketchaos.harness.clients.dashboard import Dashboard, DashboardRefused, dashboard_at
from rocketchaos.harness.clients.producer import Acknowledged
from rocketchaos.harness.core.events.observed import (
    DashboardConnectionsObserved,
    DashboardProgressObserved,
    DashboardTracksObserved,
)

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

DASHBOARD_TRACK_LIMIT = 100
"""It is asked for at most this many messages at a moment; each takes it some 20 to 100 ms."""


def read_dashboard(context: ProbeContext, url: str, moment: str) -> None:
    """Ask it for the messages sent, and for connections and progress of every group, and write down the answers.

    Raises:
        EnvironmentNotReady: it doesn't answer, or not as a dashboard does.
    """
    dashboard = dashboard_at(url)
    read_shown_tracks(context, dashboard, context.producer.acknowledged[:DASHBOARD_TRACK_LIMIT], moment)
    for group in context.scenario.groups:
        read_shown_connections(context, dashboard, group, moment)
        read_shown_progress(context, dashboard, group, moment)


def read_shown_tracks(
    context: ProbeContext, dashboard: Dashboard, messages: Sequence[Acknowledged], moment: str
) -> None:
    """The track lists of messages, whole: entries that are none of the run's groups keep their names."""
    for message in messages:
        began_ns = context.now_ns()
        try:
            shown = dashboard.tracks(context.names.real(message.topic), message.msg_id)
        except DashboardRefused as refusal:
            context.observations.note_failure("dashboard tracks", refusal.said, key=message.key)
            continue
        named = {context.names.scenario(track.group): track for track in shown}
        context.observations.write(
            f"dashboard tracks {message.key}",
            DashboardTracksObserved.kind,
            {
                "topic": message.topic,
                "key": message.key,
                "tracks": {group: item.type for group, item in named.items()},
                "why": {group: item.why for group, item in named.items() if item.why is not None},
            },
            moment,
            began_ns,
        )


def read_shown_connections(context: ProbeContext, dashboard: Dashboard, group: str, moment: str) -> None:
    """The group's consumers and subscriptions; of a group that is offline it shows an error, an answer too."""
    began_ns = context.now_ns()
    data: dict[str, object] = {"group": group, "clients": [], "subscriptions": {}, "error": None}
    try:
        shown = dashboard.connections(context.names.real(group), _brokers(context, group))
    except DashboardRefused as refusal:
        data["error"] = refusal.said
    else:
        data["clients"] = list(shown.clients)
        data["subscriptions"] = {
            context.names.scenario(topic): asdict(subscription)
            for topic, subscription in shown.subscriptions.items()
        }
        data |= {"consume_from_where": shown.consume_from, "message_model": shown.model}
    context.observations.write(
        f"dashboard connections {group}", DashboardConnectionsObserved.kind, data, moment, began_ns
    )


def read_shown_progress(context: ProbeContext, dashboard: Dashboard, group: str, moment: str) -> None:
    """Where the group stands, by topic and queue; an error is an answer here as well."""
    began_ns = context.now_ns()
    data: dict[str, object] = {"group": group, "topics": {}, "error": None}
    try:
        shown = dashboard.progress(context.names.real(group), _brokers(context, group))
    except DashboardRefused as refusal:
        data["error"] = refusal.said
    else:
        data["topics"] = {
            context.names.scenario(topic): [asdict(queue) for queue in queues]
            for topic, queues in shown.items()
        }
    context.observations.write(
        f"dashboard progress {group}", DashboardProgressObserved.kind, data, moment, began_ns
    )


def _brokers(context: ProbeContext, group: str) -> Sequence[str]:
    return [address for _, address in sorted(context.servers.brokers_of_group(group).items())]
