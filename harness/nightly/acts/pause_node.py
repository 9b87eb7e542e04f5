"""A server stands still for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.nightly.acts.base import NodeAct, route

if TYPE_CHECKING:
    from harness.nightly.draft import Draft, Step


class PauseBroker(NodeAct):
    """SIGSTOP and SIGCONT of a broker."""

    name = "pause-broker"
    meaning = "a broker stands still, and goes on"

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        broker = draft.rng.choice(draft.brokers)
        draft.story.append(f"{broker} stands still")
        wait = draft.wait(500, 4000, "so long it stands still")
        return [{"pause": broker}, *wait, {"resume": broker}, *route(draft)]


class PauseNameServer(NodeAct):
    """SIGSTOP and SIGCONT of the name server."""

    name = "pause-nameserver"
    meaning = "the name server stands still, and goes on"

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        draft.story.append("the name server stands still")
        wait = draft.wait(500, 4000, "so long it stands still")
        return [{"pause": "nameserver"}, *wait, {"resume": "nameserver"}, *route(draft)]
