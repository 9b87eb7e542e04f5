"""The base class of operations: an act on a group, or on servers, at the moment that a trigger chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step

ROUTE_WITHIN = "60s"


class Operation(Protocol):
    """One kind of operation. Afterwards no member is paused and all servers run."""

    name: str
    meaning: str
    weight: float
    """How often it is drawn in proportion to the others, unless a profile says it otherwise."""
    on_nodes: bool
    """Whether it is done to a server, so that the scenario has a cluster to itself."""
    in_containers: bool
    """Whether it needs clients that live in containers."""
    sendings_may_fail: bool
    """Whether what is sent meanwhile may not be acknowledged."""
    agreeing: bool
    """Whether a group that agrees stays so."""

    def possible(self, draft: Draft, group: str) -> bool:
        """Whether there is anybody to whom it can be done, as things stand."""

    def play(self, draft: Draft, group: str) -> list[Step]:
        """Its steps; the draft knows afterwards how everybody is."""


class MemberOperation:
    """The common part of operations on members."""

    on_nodes: bool = False
    in_containers: bool = False
    sendings_may_fail: bool = False
    agreeing: bool = True
    weight: float = 2.0


class NodeOperation:
    """The common part of operations on servers."""

    on_nodes: bool = True
    in_containers: bool = False
    sendings_may_fail: bool = True
    agreeing: bool = True
    weight: float = 0.35

    def possible(self, draft: Draft, group: str) -> bool:
        """Whether the cluster is the scenario's own."""
        del group
        return draft.own_cluster


def route(draft: Draft) -> list[Step]:
    """Until everybody knows again where the topics are."""
    return [{"settle": {"route": topic, "within": ROUTE_WITHIN}} for topic in draft.topics]
