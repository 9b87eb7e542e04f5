"""How queues are called, and which an assignment has."""

from rocketchaos.harness.core.events.observed import OwnershipObserved
from rocketchaos.harness.core.model import Event


def queue_name(broker: str, queue_id: int) -> str:
    """How queues are called in findings: `broker-a:0`."""
    return f"{broker}:{queue_id}"


def owned_queues(event: Event[OwnershipObserved], topic: str) -> list[str]:
    """The queues of a topic in an `ownership-observed` event."""
    return [queue.name for queue in event.body.queues if queue.topic == topic]
