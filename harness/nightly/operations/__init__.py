"""What is done to running groups and to servers; a new operation that is no fault is registered here."""

from __future__ import annotations

from collections.abc import Mapping

from rocketchaos.harness.language.fault_kind import BROKER, CONSUMER, DISK, NAME_SERVER, PRODUCER
from rocketchaos.harness.nightly.operations.base import Operation
from rocketchaos.harness.nightly.operations.configure import Configure
from rocketchaos.harness.nightly.operations.delete_group import DeleteGroup
from rocketchaos.harness.nightly.operations.grow import Grow
from rocketchaos.harness.nightly.operations.join import Join
from rocketchaos.harness.nightly.operations.network import Delay, Loss, Partition, Reset
from rocketchaos.harness.nightly.operations.process_fault import operations_of
from rocketchaos.harness.nightly.operations.resubscribe import Resubscribe
from rocketchaos.harness.nightly.operations.rolling import Rolling
from rocketchaos.harness.nightly.operations.subscribe_more import SubscribeMore
from rocketchaos.harness.nightly.operations.suspend import Suspend
from rocketchaos.harness.nightly.operations.unsubscribe import Unsubscribe
from rocketchaos.harness.nightly.operations.wave import Wave

_ALL: tuple[Operation, ...] = (
    *operations_of(CONSUMER),
    Join(),
    Wave(),
    Rolling(),
    Resubscribe(),
    SubscribeMore(),
    Unsubscribe(),
    Suspend(),
    DeleteGroup(),
    Grow(),
    *operations_of(BROKER),
    *operations_of(NAME_SERVER),
    *operations_of(DISK),
    Configure(),
    *operations_of(PRODUCER),
    Partition(),
    Loss(),
    Reset(),
    Delay(),
)

OPERATIONS: Mapping[str, Operation] = {item.name: item for item in _ALL}
"""By name."""
