"""The history's data of each message, apart from the oracle: how long its delivery took, and its tracks."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from rocketchaos.harness.core.events.base import Body
from rocketchaos.harness.core.events.clients import ConsumerStarted
from rocketchaos.harness.core.events.messages import Received, Sent
from rocketchaos.harness.core.events.observed import DashboardTracksObserved, TracksObserved
from rocketchaos.harness.core.model import Event, MessageFate
from rocketchaos.harness.rocketmq.track_type import TrackType

OTHER = "other"
"""A track that isn't in RocketMQ's list."""
_TRACKS = frozenset(get_args(TrackType))


class Witnesses:
    """Takes the events of a history, and afterwards answers for each message."""

    def __init__(self) -> None:
        self._sent_ns: dict[str, int] = {}
        self._received_ns: dict[str, dict[str, int]] = defaultdict(dict)
        """By key and member: the first delivery."""
        self._tracks: dict[tuple[type[Body], str, str], str] = {}
        """By who was asked, key and group: the last answer."""
        self._since_ns: dict[str, int] = {}
        """By group: when its first member had started."""
        self._groups: dict[str, set[str]] = defaultdict(set)
        """By member."""

    def add(self, mono_ns: int, node: str, body: Body) -> None:
        """One more event; they come in their order, except for small differences of clocks."""
        match body:
            case Sent(key=key):
                self._sent_ns[key] = min(mono_ns, self._sent_ns.get(key, mono_ns))
            case Received(key=str() as key):
                got = self._received_ns[key]
                got[node] = min(mono_ns, got.get(node, mono_ns))
            case TracksObserved(key=key, tracks=tracks) | DashboardTracksObserved(key=key, tracks=tracks):
                for group, track in tracks.items():
                    self._tracks[type(body), key, group] = track if track in _TRACKS else OTHER
            case ConsumerStarted(group=group):
                self._groups[node].add(group)
                self._since_ns[group] = min(mono_ns, self._since_ns.get(group, mono_ns))

    def delivery_ms(self, key: str, group: str) -> float | None:
        """From the acknowledgement, or the group's first start if that is later, to the first delivery; in ms."""
        sent_ns, since_ns = self._sent_ns.get(key), self._since_ns.get(group)
        got = [at for node, at in self._received_ns.get(key, {}).items() if group in self._groups[node]]
        if sent_ns is None or since_ns is None or not got:
            return None
        return max(0, min(got) - max(sent_ns, since_ns)) / 1e6

    def broker_track(self, key: str, group: str) -> str | None:
        """The TrackType by the broker's tools, as last seen."""
        return self._tracks.get((TracksObserved, key, group))

    def dashboard_track(self, key: str, group: str) -> str | None:
        """The TrackType by the dashboard, as last seen."""
        return self._tracks.get((DashboardTracksObserved, key, group))


def with_witnesses(fates: Iterable[MessageFate], events: Iterable[Event]) -> tuple[MessageFate, ...]:
    """The fates, with what the witnesses say.

    Raises:
        BrokenEvent: an event lacks what belongs to its kind.
    """
    witnesses = Witnesses()
    for event in events:
        witnesses.add(event.mono_ns, event.node, event.body)
    return tuple(
        replace(
            fate,
            delivery_ms=witnesses.delivery_ms(fate.key, fate.group) if fate.deliveries else None,
            broker_track=witnesses.broker_track(fate.key, fate.group),
            dashboard_track=witnesses.dashboard_track(fate.key, fate.group),
        )
        for fate in fates
    )
