"""`settle: {route: orders}`: whom the name server and the producer must know, and where."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import cast

import pytest

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.conditions.route_settled import route_settled
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.probes.context import ProbeContext

A, B, A_SLAVE = "10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"
MASTERS = {("broker-a", A), ("broker-b", B)}
KNOWN = {"broker-a": A, "broker-b": B}


def seen(
    masters: set[tuple[str, str]] | RequestFailed,
    known: Mapping[str, str] | None,
    running: Mapping[str, str] = KNOWN,
) -> Seen:
    def ask(_topic: str) -> set[tuple[str, str]]:
        if isinstance(masters, RequestFailed):
            raise masters
        return masters

    context = SimpleNamespace(
        scenario=SimpleNamespace(
            known_to=lambda _producer: {"broker-a", "broker-b"},
            brokers_of=lambda _topic: ["broker-a", "broker-b"],
        ),
        servers=SimpleNamespace(broker_addresses=running),
        names=SimpleNamespace(real=lambda topic: topic),
        admin=SimpleNamespace(masters=ask),
        producer=SimpleNamespace(routed_brokers=lambda _topic: known),
    )
    return route_settled(cast(ProbeContext, context), "orders")


@pytest.mark.parametrize("known", [KNOWN, None])
def test_it_holds_where_both_know_all_or_the_producer_has_not_asked_yet(
    known: Mapping[str, str] | None,
) -> None:
    assert seen(MASTERS, known) == Seen(True, "broker-a, broker-b can be sent to")


@pytest.mark.parametrize(
    ("masters", "known", "text"),
    [
        (RequestFailed("no topic route info", 17), KNOWN, "there is no route: no topic route info"),
        (set(), {}, "the name server knows no master of it"),
        ({("broker-a", A)}, KNOWN, "the name server lacks broker-b"),
        (MASTERS, {"broker-a": A}, "the producer lacks broker-b"),
    ],
)
def test_whoever_lacks_a_running_master_is_waited_for(
    masters: set[tuple[str, str]] | RequestFailed, known: Mapping[str, str], text: str
) -> None:
    assert seen(masters, known) == Seen(False, text)


def test_of_a_slave_that_became_the_master_the_producer_needs_the_address() -> None:
    running = {"broker-b": B}
    masters = {("broker-a", A_SLAVE), ("broker-b", B)}
    assert seen(masters, KNOWN, running) == Seen(False, f"the producer has other addresses: broker-a at {A}")
    assert seen(masters, {"broker-a": A_SLAVE, "broker-b": B}, running).holds


def test_a_dead_master_that_both_still_know_is_not_waited_for() -> None:
    assert seen(MASTERS, KNOWN, {"broker-b": B}).holds
