"""What sends is killed, terminated or paused, and comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketchaos.harness.language.producer import PRODUCER
from rocketchaos.harness.nightly.acts.base import MemberAct

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step


@dataclass(eq=False)
class ProducerAct(MemberAct):
    """A fault of the producer, a while without it, and the step that ends that."""

    name: str
    meaning: str
    happens: str
    fault: str
    back: str
    weight = 1.0
    sendings_may_fail = True

    def possible(self, draft: Draft, group: str) -> bool:
        """Always: there is one in every run."""
        del draft, group
        return True

    def play(self, draft: Draft, group: str) -> list[Step]:
        """Its steps."""
        del group
        draft.story.append(f"the producer {self.happens}")
        return [
            {self.fault: PRODUCER},
            *draft.wait(0, 2000, "so long nothing is sent"),
            {self.back: PRODUCER},
        ]


KILL_PRODUCER = ProducerAct(
    name="kill-producer",
    meaning="the producer's process is killed, and another one starts",
    happens="is killed",
    fault="kill",
    back="restart",
)
TERMINATE_PRODUCER = ProducerAct(
    name="terminate-producer",
    meaning="the producer's process gets SIGTERM, shuts its client down, and another one starts",
    happens="gets SIGTERM",
    fault="terminate",
    back="restart",
)
PAUSE_PRODUCER = ProducerAct(
    name="pause-producer",
    meaning="the producer's process stands still, and goes on",
    happens="stands still",
    fault="pause",
    back="resume",
)
