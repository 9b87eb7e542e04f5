"""What is done to running groups and to servers; a new operation that is no fault is registered here."""

from collections.abc import Mapping

from rocketchaos.harness.language.fault_kind import BROKER, CONSUMER, DISK, NAME_SERVER, PRODUCER
from rocketchaos.harness.nightly.operations.administration import Configure, DeleteGroup, Grow
from rocketchaos.harness.nightly.operations.base import Operation
from rocketchaos.harness.nightly.operations.membership import Join, Rolling, Suspend, Wave
from rocketchaos.harness.nightly.operations.network import Delay, Loss, Partition, Reset
from rocketchaos.harness.nightly.operations.process_fault import operations_of
from rocketchaos.harness.nightly.operations.subscriptions import Resubscribe, SubscribeMore, Unsubscribe

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
