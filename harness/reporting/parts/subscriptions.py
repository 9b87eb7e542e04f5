"""What the consumers of a run subscribe to."""

from collections.abc import Mapping

from rocketchaos.assertions.event_view import of_type
from rocketchaos.harness.core.events.clients import ProgramSubscription
from rocketchaos.harness.language.expressions import Expression, from_data
from rocketchaos.harness.reporting.base import Report

Subscriptions = Mapping[str, Mapping[str, Expression]]
"""By consumer and topic."""


def subscriptions(run: Report) -> Subscriptions:
    """What the scenario says of each consumer, or, of a user's program, what it reported at its last start."""
    found = {name: dict(consumer.subscribe) for name, consumer in run.scenario.consumers.items()}
    for event in of_type(run.events, ProgramSubscription):
        found[event.node] = {topic: from_data(data) for topic, data in event.body.subscribe.items()}
    return found
