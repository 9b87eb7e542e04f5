"""The common part of the steps on the network: the two sides, and who may be on them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, model_validator

from rocketchaos.harness.core.errors import HarnessDefect, PreconditionNotMet
from rocketchaos.harness.language.words import SideRefs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.containers.network_place import NetworkPlace
    from rocketchaos.harness.containers.sidecar import Sidecars
    from rocketchaos.harness.faults.base import Fault
    from rocketchaos.harness.faults.rules import Link
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


@dataclass(frozen=True, slots=True)
class Effect:
    """A fault that a step makes, as far as the scenario alone tells."""

    kind: str
    target: str
    sides: tuple[str, ...]
    """Consumers, nodes, the producer, and variables."""
    carriers: frozenset[str]
    """Those of them that must not restart meanwhile: it would be lost, or they would never be ready."""

    def is_same(self, other: Effect) -> bool:
        """Whether the two faults exclude each other: same kind, same target, and no variables."""
        return not _any_variable(self.sides) and (self.kind, self.target) == (other.kind, other.target)

    def may_concern(self, names: Iterable[str]) -> bool:
        """Whether one of these may be a side of the fault. An empty list means all nodes and clients."""
        names = set(names)
        return not names or bool(names & set(self.sides)) or _any_variable((*names, *self.sides))

    def surely_concerns(self, names: Iterable[str]) -> bool:
        """Whether one of these is a side of the fault, for every value of its variables."""
        names = set(names)
        return not names or bool({name for name in names if not name.startswith("$")} & set(self.sides))


def _any_variable(names: Iterable[str]) -> bool:
    return any(name.startswith("$") for name in names)


class NetworkStep(Step):
    """A step that puts a fault of the network into effect, until `heal` or the end of the run."""

    moves: ClassVar = (("running", "paused", "new"), None)
    node_moves: ClassVar = (("running", "paused"), None)

    @abstractmethod
    def effects(self, scenario: Scenario) -> Iterator[Effect]:
        """Each fault that it makes."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The two sides of a fault; at least one is a node."""

    first: str
    second: str
    one_way: bool

    @property
    def target(self) -> str:
        """`b to broker-a`, or `b and broker-a`."""
        return f"{self.first} {'to' if self.one_way else 'and'} {self.second}"

    def carrier(self, nodes: tuple[str, ...]) -> str:
        """Whose network has the rules: the client, because nodes keep their addresses through a restart; else the
        node that is further down in the cluster's order, a broker before the name server."""
        return max(
            (self.first, self.second),
            key=lambda name: (name not in nodes, name in nodes and nodes.index(name)),
        )


class BetweenStep(NetworkStep):
    """A fault between two sides, on one of which there are only nodes of the cluster."""

    between: SideRefs | None = Field(default=None, description="one side, with `and`: both directions")
    and_: SideRefs | None = Field(
        default=None, alias="and", description="the other side, with `between`: both directions"
    )
    from_: SideRefs | None = Field(
        default=None, alias="from", description="the side that sends, with `to`: this direction only"
    )
    to: SideRefs | None = Field(
        default=None, description="the side that receives, with `from`: this direction only"
    )

    @model_validator(mode="after")
    def _two_sides(self) -> BetweenStep:
        both, one_way = (self.between, self.and_), (self.from_, self.to)
        if (None in both) == (None in one_way) or any(both) == any(one_way):
            raise ValueError("give `between` and `and`, or `from` and `to`")
        return self

    @property
    def one_way(self) -> bool:
        """Whether only what one side sends is concerned."""
        return self.from_ is not None

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names on either side, the sender's first."""
        item, other = (self.from_, self.to) if self.one_way else (self.between, self.and_)
        return item or (), other or ()

    def acts_on(self) -> tuple[str, ...]:
        return (*self.sides[0], *self.sides[1])

    def field_of(self, index: int) -> tuple[str | int, ...]:
        first = len(self.sides[0])
        keys = ("from", "to") if self.one_way else ("between", "and")
        return (keys[0], index) if index < first else (keys[1], index - first)

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario  # whatever the sides are
        yield "partition"

    def problems(self, scenario: Scenario) -> Iterator[str]:
        item, other = (members(side, scenario) for side in self.sides)
        twice = sorted({name for name in item if name in other})
        if twice:
            yield f"`{twice[0]}` is on both sides"
            return
        clients = [[name for name in side if name not in scenario.cluster.nodes] for side in (item, other)]
        if all(clients):
            yield (
                f"`{clients[0][0]}` and `{clients[1][0]}` don't talk to each other: clients only talk to "
                "nodes of the cluster"
            )
            return
        some = any(map(scenario.is_image, scenario.consumers))
        for client in (*clients[0], *clients[1]):
            # Whom a variable stands for is known when the step runs.
            if not (scenario.in_container(client) or (some and client.startswith("$"))):
                yield f"`{client}` runs on this host, whose network all share: write `workers: containers`"
                return

    def effects(self, scenario: Scenario) -> Iterator[Effect]:
        nodes = scenario.cluster.nodes
        for ends in self._pairs(*(members(side, scenario) for side in self.sides)):
            both = ends.first, ends.second
            # Of two nodes neither: it would wait to be registered, or for those that are.
            carriers = both if set(both) <= set(nodes) else (ends.carrier(nodes),)
            yield Effect(self.word, ends.target, both, frozenset(carriers))

    def run(self, context: StepContext) -> None:
        item, other = (context.variables.resolve(members(side, context.scenario)) for side in self.sides)
        for ends in self._pairs(item, other):
            inject(context, self.fault(link_between(context, ends), sidecars(context), ends.target))

    @abstractmethod
    def fault(self, link: Link, sidecars: Sidecars, target: str) -> Fault:
        """What is done to the traffic between two ends."""

    def _pairs(self, item: Iterable[str], other: Iterable[str]) -> Iterator[Ends]:
        for pair in product(dict.fromkeys(item), dict.fromkeys(other)):
            yield Ends(*pair, self.one_way)


def inject(context: StepContext, fault: Fault) -> None:
    """Inject a fault of the network, unless it is there already.

    Raises:
        PreconditionNotMet: it is, or it takes no effect.
    """
    if f"{fault.name} {fault.target}" in context.faults.active():
        raise PreconditionNotMet(f"there is a {fault.name} of {fault.target} already")
    context.faults.inject(fault)


def sidecars(context: StepContext) -> Sidecars:
    """The object that changes the networks of the cluster's containers."""
    # Asked as the protocol would be, which can't be loaded with what it is made of.
    found = getattr(context.servers.cluster, "sidecars", None)
    if found is None:
        raise HarnessDefect(
            f"the harness can't change the network of a cluster of kind {context.servers.cluster.kind}"
        )
    made: Sidecars = found
    return made


def place_of(context: StepContext, name: str) -> NetworkPlace:
    """Where on the network a consumer, a node or the producer lives.

    Raises:
        PreconditionNotMet: it has no container now.
    """
    if context.servers.is_node(name):
        node = context.servers.node(name)
        container, advertised = node.container, node.address
    else:
        inside, advertised = context.members.client(name).container, None
        container = None if inside is None else inside.id
    if container is None:
        raise PreconditionNotMet(f"{name} has no container: the harness can't change its network")
    return sidecars(context).place(name, container, advertised)


def link_between(context: StepContext, ends: Ends) -> Link:
    """Who of the two carries the rules, and which way is concerned as seen from there."""
    from rocketchaos.harness.faults.rules import Link

    own = ends.carrier(context.scenario.cluster.nodes)
    peer = ends.second if own == ends.first else ends.first
    return Link(
        place_of(context, own),
        place_of(context, peer),
        outgoing=not ends.one_way or own == ends.first,
        incoming=not ends.one_way or own == ends.second,
    )


def members(side: Iterable[str], scenario: Scenario) -> tuple[str, ...]:
    """The names on a side, members in place of groups."""
    return tuple(
        name
        for text in side
        for name in (
            (text,) if text not in scenario.groups or text in scenario.consumers else scenario.members(text)
        )
    )
