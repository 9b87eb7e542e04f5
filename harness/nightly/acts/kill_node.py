"""A server is killed and started again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.nightly.acts.base import NodeAct, route

if TYPE_CHECKING:
    from harness.nightly.draft import Draft, Step


class KillBroker(NodeAct):
    """SIGKILL of a broker, which comes back with what its store has."""

    name = "kill-broker"
    meaning = "a broker is killed, and started again"

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        broker = draft.rng.choice(draft.brokers)
        draft.story.append(f"{broker} is killed")
        wait = draft.wait(0, 3000, "so long it is away")
        return [{"kill": broker}, *wait, {"restart": broker}, *route(draft)]


class StopBroker(NodeAct):
    """SIGTERM of a broker, which stays away for a while."""

    name = "stop-broker"
    meaning = "a broker shuts down, stays away, and is started again"

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        broker = draft.rng.choice(draft.brokers)
        draft.story.append(f"{broker} shuts down")
        wait = draft.wait(500, 3000, "so long it is away")
        return [{"stop": broker}, *wait, {"restart": broker}, *route(draft)]


class RestartBroker(NodeAct):
    """SIGTERM of a broker, which writes down what it has, and comes back."""

    name = "restart-broker"
    meaning = "a broker shuts down, and is started again at once"

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        broker = draft.rng.choice(draft.brokers)
        draft.story.append(f"{broker} is restarted")
        return [{"restart": broker}, *route(draft)]


class KillNameServer(NodeAct):
    """SIGKILL of the name server; routes come back with the brokers' registrations."""

    name = "kill-nameserver"
    meaning = "the name server is killed, and started again"

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        draft.story.append("the name server is killed")
        wait = draft.wait(0, 3000, "so long it is away")
        return [{"kill": "nameserver"}, *wait, {"restart": "nameserver"}, *route(draft)]
