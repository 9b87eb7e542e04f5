"""`seek-refused`: a running consumer whose client did not let it move its position."""

from rocketchaos.assertions.refusal import RefusedWhileRunning
from rocketchaos.harness.core.events import clients


class SeekRefused(RefusedWhileRunning):
    """A `seek` of a running consumer was refused with this answer; it needs `may_be_refused`."""

    word = "seek-refused"
    example = "seek-refused: {consumer: a, topic: orders, because: Seek offset illegal}"
    event = clients.SeekRefused
    what = "seek"

    def title(self) -> str:
        return f"seek of {self.consumer} in {self.topic} refused"
