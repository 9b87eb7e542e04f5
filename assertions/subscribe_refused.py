"""`subscribe-refused`: a running consumer that RocketMQ did not let subscribe."""

from rocketchaos.assertions.refusal import RefusedWhileRunning
from rocketchaos.harness.core.events import clients


class SubscribeRefused(RefusedWhileRunning):
    """A `subscribe` of a running consumer was refused with this answer; it needs `may_be_refused`."""

    word = "subscribe-refused"
    example = "subscribe-refused: {consumer: a, topic: orders, because: subString split error}"
    event = clients.SubscriptionRefused
    what = "subscription"

    def title(self) -> str:
        return f"subscription of {self.consumer} to {self.topic} refused"
