"""When an operation is done: not at some second, but at something that happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from rocketchaos.harness.nightly.operations.membership import newcomers

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step

    Play = Callable[[], list[Step]]

_REBALANCE_MS = 5_000


class Trigger(Protocol):
    """One kind of moment."""

    name: str
    meaning: str
    weight: float

    def possible(self, draft: Draft, group: str) -> bool:
        """Whether there can be such a moment, as things stand."""

    def around(self, draft: Draft, group: str, play: Play) -> list[Step]:
        """The steps that lead there, and those of the operation, which `play` gives when the moment has come."""


class Quiet:
    """Everything has been consumed, so that every pull is held by a broker."""

    name = "held pulls"
    meaning = "while nothing flows, so that brokers hold all pulls"
    weight = 3.0

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(draft.running(group))

    def around(self, draft: Draft, group: str, play: Play) -> list[Step]:
        del group
        return [*draft.sendings(), *draft.seal(), *draft.observe(), *play()]


class Rebalance:
    """Up to five seconds after somebody's coming or going has made the others rebalance."""

    name = "rebalance"
    meaning = "0 to 5 s after a rebalance"
    weight = 3.0

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(newcomers(draft, group)) or len(draft.running(group)) > 1

    def around(self, draft: Draft, group: str, play: Play) -> list[Step]:
        joining = newcomers(draft, group)
        if joining:
            trigger = draft.start(joining[:1])
        else:
            member = draft.rng.choice(draft.running(group))
            trigger = [*draft.gone("stop", [member]), *draft.start([member])]
        wait = draft.wait(0, _REBALANCE_MS, "so long after the rebalance")
        return [*draft.sendings(), *trigger, *wait, *play()]


class Flow:
    """While messages are sent and consumed."""

    name = "flow"
    meaning = "while messages flow"
    weight = 4.0

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(draft.running(group))

    def around(self, draft: Draft, group: str, play: Play) -> list[Step]:
        topics = sorted({topic for member in draft.running(group) for topic in member.wants})
        flow = draft.flow(draft.rng.choice(topics))
        wait = draft.wait(0, 2000, "so long messages flow undisturbed")
        return [{"parallel": [[flow], [*wait, *play()]]}]


class Unstored:
    """Listeners have handled messages whose offsets aren't stored yet."""

    name = "unstored"
    meaning = "between the commit of an offset in a client and its storing at the broker"
    weight = 3.0

    def possible(self, draft: Draft, group: str) -> bool:
        # A filter, a listener that fails or one that blocks may keep the moment from ever coming.
        steady = all("behaviour" not in member.fields for member in draft.running(group))
        return steady and bool(draft.common_topics(group))

    def around(self, draft: Draft, group: str, play: Play) -> list[Step]:
        topic = draft.rng.choice(draft.common_topics(group))
        flow = draft.flow(topic, draft.common_tags(group, topic)[:1])
        moment = {"settle": {"unstored": group, "topic": topic, "within": "20s"}}
        return [{"parallel": [[flow], [moment, *play()]]}]


_ALL: tuple[Trigger, ...] = (Quiet(), Rebalance(), Flow(), Unstored())

TRIGGERS: Mapping[str, Trigger] = {item.name: item for item in _ALL}
"""By name; a new one is registered here."""
