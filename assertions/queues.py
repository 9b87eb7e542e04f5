"""How queues are called, and which an assignment has."""

from __future__ import annotations

from rocketchaos.harness.core.model import Event


def queue_name(broker: str, queue_id: int) -> str:
    """How queues are called in findings: `broker-a:0`."""
    return f"{broker}:{queue_id}"


def owned_queues(event: Event, topic: str) -> list[str]:
    """The queues of a topic in an `ownership-observed` event."""
    return [
        queue_name(queue["broker"], queue["queue_id"])
        for queue in event.data["queues"]
        if queue["topic"] == topic
    ]
