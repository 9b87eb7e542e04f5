"""What the consumers of a run subscribe to."""

from collections.abc import Mapping
from typing import Any

from rocketchaos.harness.core.events.clients import ProgramSubscription, Subscribed
from rocketchaos.harness.language.expressions import Expression, from_data
from rocketchaos.harness.reporting.base import Report

Subscriptions = Mapping[str, Mapping[str, Expression]]
"""By consumer and topic."""


def subscriptions(run: Report) -> Subscriptions:
    """What the scenario says of each consumer, or, of a user's program, what it reported since its last start."""
    found = {name: dict(consumer.subscribe) for name, consumer in run.scenario.consumers.items()}
    for name, lives in reported(run).items():
        found[name] = {topic: from_data(data) for topic, data in lives[-1].items()}
    return found


def reported(run: Report) -> dict[str, list[dict[str, Any]]]:
    """What each user's program subscribed to, by topic: for each of its starts, with what came later."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event in run.events:
        if event.kind not in (ProgramSubscription.kind, Subscribed.kind):
            continue
        match event.body:
            case ProgramSubscription(subscribe=subscribe):
                found.setdefault(event.node, []).append(dict(subscribe))
            case Subscribed(topic=topic, expression=expression) if event.node in found:
                found[event.node][-1][topic] = expression
    return found
