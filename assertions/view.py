"""A run's history, read: who was sent what, who got it, what was observed when. Pure.

The catalogue of all kinds of events is `harness.core.events`, and as a page `docs/events.md`.
"""

from rocketchaos.assertions.fault_view import FaultView
from rocketchaos.assertions.member_view import MemberView
from rocketchaos.assertions.message_view import Delivery, MessageView, Sent
from rocketchaos.assertions.queues import owned_queues, queue_name

__all__ = ["Delivery", "RunView", "Sent", "owned_queues", "queue_name"]


class RunView(MessageView, MemberView, FaultView):
    """The history of one run of `scenario`, by what the checks ask for."""
