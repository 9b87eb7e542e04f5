"""What iptables and tc are told for a fault, what is read from their counters, and who carries the rules; pure."""

from __future__ import annotations

import pytest

from rocketchaos.harness.containers.netem import delay_command
from rocketchaos.harness.containers.network_place import NetworkPlace
from rocketchaos.harness.faults.loss import agrees
from rocketchaos.harness.faults.rules import Command, Link, counts, drop, lose, put_up, reset, take_down
from rocketchaos.harness.steps.network import Ends

B = NetworkPlace("b", "c1", ("198.18.0.20",))
BROKER = NetworkPlace("broker-a", "c2", ("198.18.0.3", "198.18.0.9"), 10911)
NODES = ("nameserver", "broker-a", "broker-a-slave")


def text(rules: list[Command]) -> list[str]:
    return [" ".join(rule) for rule in rules]


def test_a_partition_drops_to_and_from_every_address_of_the_peer() -> None:
    assert text(drop(Link(B, BROKER))) == [
        "-d 198.18.0.3 -j DROP",
        "-d 198.18.0.9 -j DROP",
        "-s 198.18.0.3 -j DROP",
        "-s 198.18.0.9 -j DROP",
    ]


def test_one_way_is_one_direction_and_nothing_of_the_other() -> None:
    assert {rule[0] for rule in drop(Link(B, BROKER, incoming=False))} == {"-d"}
    assert {rule[0] for rule in drop(Link(B, BROKER, outgoing=False))} == {"-s"}


def test_loss_counts_what_passes_right_after_what_it_drops() -> None:
    assert text(lose(Link(B, BROKER, outgoing=False), 7)) == [
        "-s 198.18.0.3 -m statistic --mode random --probability 0.07 -j DROP",
        "-s 198.18.0.3 -j RETURN",
        "-s 198.18.0.9 -m statistic --mode random --probability 0.07 -j DROP",
        "-s 198.18.0.9 -j RETURN",
    ]


def test_resets_pass_before_whatever_is_answered_by_one() -> None:
    first, *others = text(reset(Link(B, BROKER)))
    assert first == "-p tcp --tcp-flags RST RST -j RETURN"
    assert others[0] == "-p tcp -d 198.18.0.3 -j REJECT --reject-with tcp-reset"
    assert len(others) == 4


def test_a_chain_is_complete_before_anything_goes_through_it_and_is_taken_down_in_reverse() -> None:
    up, down = text(put_up("C", [("-j", "DROP")])), text(take_down("C"))
    assert up == ["-N C", "-A C -j DROP", "-I INPUT 1 -j C", "-I OUTPUT 1 -j C"]
    assert down == ["-D OUTPUT -j C", "-D INPUT -j C", "-F C", "-X C"]
    assert not any(command in ("-F", "-X") for command in down), "nobody else's rules are ever removed"


def test_counters_are_read_from_every_rule_in_order() -> None:
    listing = """\
Chain ROCKETCHAOS-1 (2 references)
    pkts      bytes target     prot opt in     out     source               destination
      12      720 DROP       0    --  *      *       0.0.0.0/0            198.18.0.3           statistic mode
 4000000 60000000 RETURN     0    --  *      *       0.0.0.0/0            198.18.0.3
"""
    assert counts(listing) == [12, 4_000_000]


@pytest.mark.parametrize(
    ("item", "other", "carrier"),
    [
        ("b", "broker-a", "b"),
        ("broker-a", "producer", "producer"),
        ("nameserver", "broker-a", "broker-a"),
        ("broker-a-slave", "broker-a", "broker-a-slave"),
    ],
)
def test_who_is_not_likely_to_come_back_with_the_same_address_carries_the_rules(
    item: str, other: str, carrier: str
) -> None:
    assert Ends(item, other, one_way=False).carrier(NODES) == carrier
    assert Ends(item, other, one_way=True).carrier(NODES) == carrier


@pytest.mark.parametrize(
    ("dropped", "passed", "probability", "fits"),
    [
        (60, 140, 0.3, True),
        (0, 200, 0.3, False),
        (200, 0, 0.3, False),
        (20, 180, 0.3, False),
        (20, 1980, 0.01, True),
        (0, 2000, 0.01, False),
        (198, 2, 0.99, True),
    ],
)
def test_losses_must_agree_with_their_probability(
    dropped: int, passed: int, probability: float, fits: bool
) -> None:
    assert agrees(dropped, passed, probability) is fits


def test_netem_gets_units() -> None:
    assert " ".join(delay_command("eth0", 200, 50)) == (
        "tc qdisc replace dev eth0 root netem delay 200ms 50ms"
    )
    assert delay_command("eth0", 200, 0)[-1] == "200ms"
