"""The steps that do something to the network: which faults they make, of whom, and what they need."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.clients.members import Members
from rocketchaos.harness.containers.network_place import NetworkPlace
from rocketchaos.harness.core.errors import HarnessDefect, PreconditionNotMet
from rocketchaos.harness.core.history import History
from rocketchaos.harness.engine.placement import own_processes
from rocketchaos.harness.faults.base import Fault, Faults
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.steps.delay import delayed_brokers
from rocketchaos.harness.steps.heal import Heal
from rocketchaos.harness.steps.network import Ends, NetworkStep, link_between, place_of

TEXT = """\
name: example
title: an example
workers: {workers}
cluster: {{brokers: [broker-a, broker-b]}}
topics: {{orders: {{queues: 4}}}}
consumers:
  a: {{group: g, subscribe: {{orders: tagA}}}}
  b: {{group: g, subscribe: {{orders: tagB}}}}
steps:
  - start: [a, b]
{steps}
anomaly: {{delivered: {{to: a, count: 1}}}}
healthy: {{delivered: {{to: g, count: 8}}}}
"""


def scenario(*steps: str, workers: str = "containers") -> Scenario:
    return parse_scenario(
        TEXT.format(workers=workers, steps="\n".join(f"  - {step}" for step in steps)), "x.yaml"
    )


def targets(step: str) -> list[str]:
    item = scenario(step)
    word = item.steps[1]
    assert isinstance(word, NetworkStep)
    return [effect.target for effect in word.effects(item)]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("partition: {between: b, and: broker-a}", ["b and broker-a"]),
        ("partition: {from: b, to: [broker-a, nameserver]}", ["b to broker-a", "b to nameserver"]),
        ("partition: {from: broker-a, to: g}", ["broker-a to a", "broker-a to b"]),
        ("reset: {between: [g, b], and: broker-a}", ["a and broker-a", "b and broker-a"]),
        ("loss: {between: producer, and: broker-a, percent: 5}", ["producer and broker-a"]),
        ("delay: {of: broker-b, by: 1s}", ["broker-b"]),
    ],
)
def test_each_pair_is_a_fault_of_its_own(step: str, expected: list[str]) -> None:
    assert targets(step) == expected


def test_a_partition_between_nodes_needs_no_workers_in_containers() -> None:
    between_nodes = scenario("partition: {from: broker-a, to: nameserver}", workers="host")
    assert between_nodes.required_capabilities == {"partition", "configure"}
    assert between_nodes.needs_own_cluster


def test_who_has_a_fault_has_a_process_and_so_a_network_of_its_own() -> None:
    assert own_processes(scenario("partition: {between: b, and: broker-a}")) == {"b"}
    assert own_processes(scenario("delay: {of: broker-a, by: 1s}")) == frozenset()


def test_a_delay_needs_a_capability_of_its_own_and_says_whom_it_is_about() -> None:
    delayed = scenario("repeat: {times: 2, steps: [delay: {of: broker-b, by: 1s}, heal: delay]}")
    assert {"partition", "delay"} <= delayed.required_capabilities
    assert delayed_brokers(delayed) == ("broker-b",)


NESTED = [
    ("repeat: {times: 2, steps: [partition: {between: b, and: broker-a}, heal: partition]}",),
    ("parallel: [partition: {between: b, and: broker-a}, [wait: 1s, heal: partition]]",),
    ("partition: {between: b, and: broker-a}", "parallel: [[heal: all], [wait: 1s, heal: all]]"),
    (
        "bind: {holder: {member-of: g, whose-subscription-is-stored-for: orders}}",
        "partition: {between: $holder, and: broker-a}",
        "partition: {between: $others, and: broker-a}",
        "heal: {faults: partition, of: b}",
        "restart: b",
    ),
    ("kill: b", "start: b", "partition: {between: b, and: broker-a}", "heal: all", "restart: b"),
]


@pytest.mark.parametrize("steps", NESTED)
def test_what_may_be_so_is_not_refused(steps: tuple[str, ...]) -> None:
    assert len(scenario(*steps).steps) >= len(steps)


class Recorded(Fault):
    """A fault of which it is known what was asked of it."""

    def __init__(self, name: str, *sides: str, heals_well: bool = True) -> None:
        self.name, self.sides, self.target = name, sides, " and ".join(sides)
        self.healed = False
        self._heals_well = heals_well

    def inject(self) -> None: ...

    def wait_effective(self) -> str:
        return "seen"

    def heal(self) -> None:
        self.healed = True
        if not self._heals_well:
            raise PreconditionNotMet("it doesn't")

    def wait_healed(self) -> str:
        return "gone"


class Context:
    """As much of a run's context as `heal` needs."""

    def __init__(self, *faults: Recorded) -> None:
        self.history = History("r1")
        self.faults = Faults(self.history)
        self.scenario = scenario("wait: 1s")
        self.variables = self
        for fault in faults:
            self.faults.inject(fault)

    def resolve(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple("b" if name == "$holder" else name for name in names)


@pytest.mark.parametrize(
    ("heal", "left"),
    [
        ("all", set()),
        ("partition", {"loss b and broker-a"}),
        (["partition", "loss"], set()),
        ({"faults": "partition", "of": "$holder"}, {"partition a and broker-a", "loss b and broker-a"}),
        ({"faults": "all", "of": "broker-a"}, set()),
        ({"faults": "all", "of": "g"}, set()),
    ],
)
def test_heal_ends_those_that_are_meant_and_no_others(heal: object, left: set[str]) -> None:
    context = Context(
        Recorded("partition", "a", "broker-a"),
        Recorded("partition", "b", "broker-a"),
        Recorded("loss", "b", "broker-a"),
        Recorded("pause"),
    )
    Heal.model_validate(heal).run(context)  # type: ignore[arg-type]
    assert set(context.faults.active()) - {"pause "} == left
    assert "pause " in context.faults.active(), "what is no fault of the network is not its business"


def test_healing_nothing_makes_the_run_inconclusive() -> None:
    with pytest.raises(PreconditionNotMet, match="heal: no reset of b is in effect"):
        Heal.model_validate({"faults": "reset", "of": "b"}).run(Context())  # type: ignore[arg-type]


def test_the_history_has_both_sides() -> None:
    context = Context(Recorded("partition", "b", "broker-a"))
    (effective,) = [event for event in context.history.events if event.kind == "fault-effective"]
    assert effective.data == {
        "fault": "partition",
        "target": "b and broker-a",
        "sides": ["b", "broker-a"],
        "proof": "seen",
    }


def test_one_that_does_not_heal_keeps_no_other_from_it() -> None:
    first, second = Recorded("loss", "a", "broker-a"), Recorded("loss", "b", "broker-a", heals_well=False)
    context = Context(first, second)
    with pytest.raises(PreconditionNotMet, match="it doesn't"):
        context.faults.heal_all()
    assert first.healed
    assert second.healed
    with pytest.raises(HarnessDefect):
        Context(first, first)


class Placed:
    """As much of a run's context as finding the two ends needs."""

    def __init__(self) -> None:
        self.scenario = scenario("wait: 1s")
        self.servers = self
        self.cluster = SimpleNamespace(
            sidecars=SimpleNamespace(
                place=lambda name, container, advertised: NetworkPlace(name, container, (str(advertised),))
            )
        )
        consumers = {"b": SimpleNamespace(container=SimpleNamespace(id="cb"))}
        self.producer = SimpleNamespace(name="producer", container=None)
        self.members = Members(self.scenario, cast(Any, consumers), cast(Any, {"producer": self.producer}))

    def is_node(self, name: str) -> bool:
        return name in self.scenario.cluster.nodes

    def node(self, name: str) -> object:
        return SimpleNamespace(container=f"c-{name}", address=f"{name}:1")


@pytest.mark.parametrize(
    ("ends", "own", "outgoing", "incoming"),
    [
        (Ends("b", "broker-a", one_way=False), "b", True, True),
        (Ends("b", "broker-a", one_way=True), "b", True, False),
        (Ends("broker-a", "b", one_way=True), "b", False, True),
        (Ends("nameserver", "broker-b", one_way=True), "broker-b", False, True),
        (Ends("broker-b", "nameserver", one_way=True), "broker-b", True, False),
    ],
)
def test_directions_are_those_of_whoever_carries_the_rules(
    ends: Ends, own: str, outgoing: bool, incoming: bool
) -> None:
    link = link_between(Placed(), ends)  # type: ignore[arg-type]
    assert (link.own.name, link.outgoing, link.incoming) == (own, outgoing, incoming)
    assert {link.own.name, link.peer.name} == {ends.first, ends.second}


def test_who_has_no_container_has_no_network_to_be_changed() -> None:
    with pytest.raises(PreconditionNotMet, match="producer has no container"):
        place_of(Placed(), "producer")  # type: ignore[arg-type]
