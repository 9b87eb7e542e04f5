"""A world whose truth is known: real profiles laid out over clients and versions, with things planted in it.

Each planted thing has a scenario of its own; all other cells of a scenario are alike unless real runs of just that
client and version say otherwise (in a null world: alike without exception), so that whatever else a report finds
there is a false alarm.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tests.benchmarks.spark.fit import Profile

CLIENTS_AND_VERSIONS = (
    ("java", "4.9.4"),
    ("java", "5.5.0"),
    ("python 2.0.0", "4.9.4"),
    ("python 2.0.0", "5.5.0"),
    ("grpc 5.1.2", "5.5.0"),
)
"""As an ingest calls them: with a version where it isn't the brokers'."""
DECK = 1000
"""Shares of classes are kept to one in so many."""
STEADY = 0.995
"""P(as expected) where nothing is planted: recorded runs are chosen for variety, and tell nothing of it."""
TELLING_RUNS = 10
"""From so many real runs of a cell on, their own share of outcomes as expected is taken."""
SLOW_FROM_MS = 45_000.0
"""Where the planted late deliveries begin: beyond the timers of pulls, rebalances, heartbeats and locks."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell, and the truth about it."""

    number: int
    scenario: str
    client: str
    rocketmq: str
    profile: Profile
    as_expected: float
    """P(as expected), errors apart."""
    change_at: float | None = None
    """The share of its runs from which on P is `as_expected_after`."""
    as_expected_after: float | None = None
    as_expected_busy: float | None = None
    """P in the 0.242 of its runs in which the machine is busiest."""
    lost: float = 0.0
    """The share of all messages that are `lost` instead of `delivered`."""
    slow: float = 0.0
    """The share of deliveries that take from one to two times `SLOW_FROM_MS`."""

    @property
    def kind(self) -> str:
        """Of its clients."""
        return self.client.partition(" ")[0]

    @property
    def client_version(self) -> str:
        """Of its clients: the brokers' where it isn't said."""
        return self.client.partition(" ")[2] or self.rocketmq

    @property
    def shares(self) -> Mapping[str, float]:
        """Class: share of the messages, the planted loss included."""
        if not self.lost:
            return self.profile.shares
        shares = {**self.profile.shares, "lost": self.lost}
        return {**shares, "delivered": shares["delivered"] - self.lost}


@dataclass(frozen=True, slots=True)
class Planted:
    """One thing that a report has to find."""

    kind: str
    """`flaky`, `change-point`, `busy-machine`, `divergence`, `slow-delivery`."""
    scenario: str
    client: str
    rocketmq: str
    size: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class World:
    """All cells, and what was planted."""

    cells: Sequence[Cell]
    planted: Sequence[Planted] = field(default=())

    def truth(self) -> dict[str, Any]:
        """As a document, to be put down beside the data."""
        return {
            "planted": [asdict(item) for item in self.planted],
            "cells": [
                {
                    "scenario": cell.scenario,
                    "client": cell.client,
                    "rocketmq": cell.rocketmq,
                    "as_expected": cell.as_expected,
                    "change_at": cell.change_at,
                    "as_expected_after": cell.as_expected_after,
                    "as_expected_busy": cell.as_expected_busy,
                    "shares": dict(cell.shares),
                    "slow": cell.slow,
                    "delivery_log_mean": cell.profile.delivery_log_mean,
                    "delivery_log_spread": cell.profile.delivery_log_spread,
                }
                for cell in self.cells
            ],
        }

    def truth_text(self) -> str:
        """The same, as JSON."""
        return json.dumps(self.truth(), indent=1, ensure_ascii=False) + "\n"


def null_world(profiles: Sequence[Profile], scenarios: int | None = None, steady: float = STEADY) -> World:
    """Nothing is planted, and all clients and versions are alike."""
    chosen = _scenarios(profiles)[:scenarios]
    cells = [
        Cell(0, first.scenario, client, version, first, steady)
        for first in chosen
        for client, version in CLIENTS_AND_VERSIONS
    ]
    return World([replace(cell, number=number) for number, cell in enumerate(cells)])


def planted_world(profiles: Sequence[Profile], scenarios: int | None = None, steady: float = STEADY) -> World:
    """The same with one thing of each kind planted.

    Raises:
        ValueError: there are too few scenarios with deliveries to plant anything in.
    """
    cells = [_as_real(cell, profiles) for cell in null_world(profiles, scenarios, steady).cells]
    places = [
        cell
        for cell in cells
        if (cell.client, cell.rocketmq) == CLIENTS_AND_VERSIONS[1]
        and cell.profile.shares.get("delivered", 0.0) >= 0.5
        and cell.profile.expected
    ]
    changes = list(_changes())
    if len(places) < len(changes):
        raise ValueError(f"{len(changes)} scenarios with deliveries are needed, there are {len(places)}")
    planted = []
    for place, (kind, change, size) in zip(places, changes, strict=False):
        cells[place.number] = replace(place, **change)
        planted.append(Planted(kind, place.scenario, place.client, place.rocketmq, size))
    return World(cells, planted)


def _changes() -> Iterator[tuple[str, dict[str, Any], dict[str, float]]]:
    yield "flaky", {"as_expected": 0.8}, {"as_expected": 0.8}
    yield (
        "change-point",
        {"change_at": 0.6, "as_expected_after": 0.5},
        {"change_at": 0.6, "as_expected_after": 0.5},
    )
    yield "busy-machine", {"as_expected_busy": 0.6}, {"as_expected_busy": 0.6, "busiest": 0.242}
    yield "divergence", {"lost": 0.05}, {"lost": 0.05}
    yield "slow-delivery", {"slow": 0.03}, {"slow": 0.03, "from_ms": SLOW_FROM_MS}


def _scenarios(profiles: Sequence[Profile]) -> list[Profile]:
    """One profile of each scenario; first those in which something can be planted."""
    first: dict[str, Profile] = {}
    for profile in sorted(profiles, key=lambda item: (item.client != "java", item.expected is None)):
        first.setdefault(profile.scenario, profile)
    return sorted(
        first.values(),
        key=lambda item: (item.expected is None, item.shares.get("delivered", 0.0) < 0.5, item.scenario),
    )


def _as_real(cell: Cell, profiles: Sequence[Profile]) -> Cell:
    for item in profiles:
        if (item.scenario, item.client, item.rocketmq) == (cell.scenario, cell.kind, cell.rocketmq):
            text = item.runs >= TELLING_RUNS and item.expected
            return replace(
                cell, profile=item, as_expected=item.as_expected / item.runs if text else cell.as_expected
            )
    return cell
