"""Something is done to the network of members and brokers, where clients live in containers, and ends."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from rocketchaos.harness.language.cluster_needs import NAMESERVER
from rocketchaos.harness.nightly.operations.base import NodeOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step

_LASTS_MS = (500, 6000)


class NetworkOperation(NodeOperation):
    """A fault of the network, a while with it, and its end."""

    in_containers = True
    weight = 0.6

    def possible(self, draft: Draft, group: str) -> bool:
        """Whether clients live in containers, and somebody runs."""
        return draft.in_containers and bool(draft.killable(group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        """Its steps."""
        member = draft.rng.choice(draft.killable(group)).name
        broker = draft.rng.choice(draft.brokers)
        fault = self.fault(draft, member, broker)
        return [fault, *draft.wait(*_LASTS_MS, "how long it lasts"), {"heal": "all"}]

    @abstractmethod
    def fault(self, draft: Draft, member: str, broker: str) -> Step:
        """The step that begins it; the draft's story knows it afterwards."""


class Partition(NetworkOperation):
    """Nothing passes, both ways or one."""

    name = "partition"
    meaning = "a member is cut off from a broker, or from all servers, or hears nothing, or isn't heard"

    def fault(self, draft: Draft, member: str, broker: str) -> Step:
        """The step."""
        draft.story.append(f"{member} is cut off")
        servers = draft.rng.choice([broker, [*draft.brokers, NAMESERVER]])
        sides = draft.rng.choice([("between", "and"), ("from", "to"), ("to", "from")])
        return {"partition": dict(zip(sides, (member, servers), strict=True))}


class Loss(NetworkOperation):
    """Packets are lost."""

    name = "loss"
    meaning = "packets between a member and a broker are lost, a share of them"

    def fault(self, draft: Draft, member: str, broker: str) -> Step:
        """The step."""
        draft.story.append(f"packets between {member} and {broker} are lost")
        return {"loss": {"between": member, "and": broker, "percent": draft.rng.choice((5, 20, 40))}}


class Reset(NetworkOperation):
    """Connections end."""

    name = "reset"
    meaning = "connections between a member and a broker are reset, and can't be made"

    def fault(self, draft: Draft, member: str, broker: str) -> Step:
        """The step."""
        draft.story.append(f"the connections of {member} to {broker} are reset")
        return {"reset": {"between": member, "and": broker}}


class Delay(NetworkOperation):
    """A broker answers late."""

    name = "delay"
    meaning = "a broker answers everybody late"

    def fault(self, draft: Draft, member: str, broker: str) -> Step:
        """The step."""
        del member
        draft.story.append(f"{broker} answers late")
        return {"delay": {"of": broker, "by": draft.rng.choice(("50ms", "200ms", "500ms"))}}
