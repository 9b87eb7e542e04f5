"""What must always be so, one file each; a new one is registered here."""

from __future__ import annotations

from harness.nightly.invariants.backwards import OffsetBackwards
from harness.nightly.invariants.base import Breach, Invariant, Judged
from harness.nightly.invariants.cross import CrossDelivery
from harness.nightly.invariants.lost import Lost
from harness.nightly.invariants.owners import SeveralOwners
from harness.nightly.invariants.refused import RefusedOnAndOn
from harness.nightly.invariants.repeated import Repeated
from harness.nightly.invariants.stuck import Stuck
from harness.nightly.invariants.wanted import WantedButNotDelivered

INVARIANTS: tuple[Invariant, ...] = (
    Lost(),
    WantedButNotDelivered(),
    Stuck(),
    CrossDelivery(),
    RefusedOnAndOn(),
    Repeated(),
    OffsetBackwards(),
    SeveralOwners(),
)

__all__ = ["INVARIANTS", "Breach", "Invariant", "Judged"]
