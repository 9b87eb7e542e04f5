"""The rules of iptables for each network fault; pure.

A fault has a chain of its own in the network of the container that carries it, so that its rules are counted and
removed by themselves, and no other rules are ever touched.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rocketchaos.harness.containers.network_place import NetworkPlace

Command = tuple[str, ...]
"""Arguments of iptables."""

CHAIN_PREFIX = "ROCKETCHAOS-"


@dataclass(frozen=True, slots=True)
class Link:
    """Two ends of which one carries the rules; the other listens, so that it can be tried out."""

    own: NetworkPlace
    peer: NetworkPlace
    outgoing: bool = True
    """It applies to packets from `own` to `peer`."""
    incoming: bool = True
    """It applies to packets from `peer` to `own`."""

    def matches(self) -> Iterator[Command]:
        """What picks its packets, by direction and by the peer's address."""
        for option, wanted in (("-d", self.outgoing), ("-s", self.incoming)):
            if wanted:
                yield from ((option, address) for address in self.peer.addresses)


def drop(link: Link) -> list[Command]:
    """Nothing passes."""
    return [(*match, "-j", "DROP") for match in link.matches()]


def lose(link: Link, percent: int) -> list[Command]:
    """This many of a hundred packets don't pass, each by chance; those that pass are counted too."""
    return [
        rule
        for match in link.matches()
        for rule in (
            (
                *match,
                "-m",
                "statistic",
                "--mode",
                "random",
                "--probability",
                f"{percent / 100:.2f}",
                "-j",
                "DROP",
            ),
            (*match, "-j", "RETURN"),
        )
    ]


def reset(link: Link) -> list[Command]:
    """Whoever sends something over TCP gets a reset for an answer.

    The resets themselves pass: they go through the same chain.
    """
    answers = [
        ("-p", "tcp", *match, "-j", "REJECT", "--reject-with", "tcp-reset") for match in link.matches()
    ]
    return [("-p", "tcp", "--tcp-flags", "RST", "RST", "-j", "RETURN"), *answers]


def put_up(chain: str, rules: list[Command]) -> list[Command]:
    """Make the chain and let everything pass through it, once it is complete."""
    return [
        ("-N", chain),
        *(("-A", chain, *rule) for rule in rules),
        ("-I", "INPUT", "1", "-j", chain),
        ("-I", "OUTPUT", "1", "-j", chain),
    ]


def take_down(chain: str) -> list[Command]:
    """Remove the chain and what leads to it."""
    return [("-D", "OUTPUT", "-j", chain), ("-D", "INPUT", "-j", chain), ("-F", chain), ("-X", chain)]


def counts(listing: str) -> list[int]:
    """The packets that each rule of a chain has met, by `iptables -nvxL CHAIN`."""
    return [int(found[1]) for found in re.finditer(r"^\s*(\d+)\s+\d+\s", listing, re.MULTILINE)]
