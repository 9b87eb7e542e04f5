"""A server is killed, stopped, restarted or paused, and comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.acts.base import NodeAct, route

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step

NAME_SERVER = "nameserver"


@dataclass(eq=False)
class ServerAct(NodeAct):
    """A fault of a server, a while without it, and the step that ends that; then routes are back."""

    name: str
    meaning: str
    happens: str
    """What the story says of the server."""
    fault: str | None
    """The step that takes the server away; None where `back` does both."""
    back: str
    away_ms: tuple[int, int] = (0, 0)
    away_because: str = "so long it is away"
    of_name_server: bool = False

    def play(self, draft: Draft, group: str) -> list[Step]:
        """Its steps."""
        del group
        server = NAME_SERVER if self.of_name_server else draft.rng.choice(draft.brokers)
        draft.story.append(f"{'the name server' if self.of_name_server else server} {self.happens}")
        gone: list[Step] = []
        if self.fault is not None:
            gone = [{self.fault: server}, *draft.wait(*self.away_ms, self.away_because)]
        return [*gone, {self.back: server}, *route(draft)]


KILL_BROKER = ServerAct(
    name="kill-broker",
    meaning="a broker is killed, and started again with what its store has",
    happens="is killed",
    fault="kill",
    back="restart",
    away_ms=(0, 3000),
)
STOP_BROKER = ServerAct(
    name="stop-broker",
    meaning="a broker shuts down, stays away, and is started again",
    happens="shuts down",
    fault="stop",
    back="restart",
    away_ms=(500, 3000),
)
RESTART_BROKER = ServerAct(
    name="restart-broker",
    meaning="a broker shuts down, and is started again at once",
    happens="is restarted",
    fault=None,
    back="restart",
)
FILL_DISK = ServerAct(
    name="fill-disk",
    meaning="a broker refuses messages, as with a full disk, and takes them again; 4.9.x alone",
    happens="has a full disk",
    fault="fill-disk",
    back="free-disk",
    away_ms=(0, 3000),
    away_because="so long its disk is full",
)
PAUSE_BROKER = ServerAct(
    name="pause-broker",
    meaning="a broker stands still, and goes on",
    happens="stands still",
    fault="pause",
    back="resume",
    away_ms=(500, 4000),
    away_because="so long it stands still",
)
KILL_NAME_SERVER = ServerAct(
    name="kill-nameserver",
    meaning="the name server is killed, and started again; routes come back with the brokers' registrations",
    happens="is killed",
    fault="kill",
    back="restart",
    away_ms=(0, 3000),
    of_name_server=True,
)
STOP_NAME_SERVER = ServerAct(
    name="stop-nameserver",
    meaning="the name server shuts down, stays away, and is started again",
    happens="shuts down",
    fault="stop",
    back="restart",
    away_ms=(500, 3000),
    of_name_server=True,
)
RESTART_NAME_SERVER = ServerAct(
    name="restart-nameserver",
    meaning="the name server shuts down, and is started again at once",
    happens="is restarted",
    fault=None,
    back="restart",
    of_name_server=True,
)
PAUSE_NAME_SERVER = ServerAct(
    name="pause-nameserver",
    meaning="the name server stands still, and goes on",
    happens="stands still",
    fault="pause",
    back="resume",
    away_ms=(500, 4000),
    away_because="so long it stands still",
    of_name_server=True,
)
