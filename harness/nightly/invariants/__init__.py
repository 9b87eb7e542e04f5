"""All invariants, one file each; a new one is registered here."""

from rocketchaos.harness.nightly.invariants.backwards import OffsetBackwards
from rocketchaos.harness.nightly.invariants.base import Breach, Invariant, Judged
from rocketchaos.harness.nightly.invariants.cross import CrossDelivery
from rocketchaos.harness.nightly.invariants.lost import Lost
from rocketchaos.harness.nightly.invariants.owners import SeveralOwners
from rocketchaos.harness.nightly.invariants.refused import RefusedOnAndOn
from rocketchaos.harness.nightly.invariants.repeated import Repeated
from rocketchaos.harness.nightly.invariants.stuck import Stuck
from rocketchaos.harness.nightly.invariants.wanted import WantedButNotDelivered

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
