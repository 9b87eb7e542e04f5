"""What is done to running groups and to servers; a new act is registered here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rocketchaos.harness.nightly.acts.base import Act
from rocketchaos.harness.nightly.acts.configure import Configure
from rocketchaos.harness.nightly.acts.join import Join
from rocketchaos.harness.nightly.acts.kill import Kill
from rocketchaos.harness.nightly.acts.network import Delay, Loss, Partition, Reset
from rocketchaos.harness.nightly.acts.pause import Pause
from rocketchaos.harness.nightly.acts.producer import KILL_PRODUCER, PAUSE_PRODUCER, TERMINATE_PRODUCER
from rocketchaos.harness.nightly.acts.resubscribe import Resubscribe
from rocketchaos.harness.nightly.acts.rolling import Rolling
from rocketchaos.harness.nightly.acts.server import (
    FILL_DISK,
    KILL_BROKER,
    KILL_NAME_SERVER,
    PAUSE_BROKER,
    PAUSE_NAME_SERVER,
    RESTART_BROKER,
    RESTART_NAME_SERVER,
    STOP_BROKER,
    STOP_NAME_SERVER,
)
from rocketchaos.harness.nightly.acts.stop import Stop
from rocketchaos.harness.nightly.acts.terminate import Terminate
from rocketchaos.harness.nightly.acts.unsubscribe import Unsubscribe
from rocketchaos.harness.nightly.acts.wave import Wave

_ALL: tuple[Act, ...] = (
    Kill(),
    Terminate(),
    Stop(),
    Pause(),
    Join(),
    Wave(),
    Rolling(),
    Resubscribe(),
    Unsubscribe(),
    KILL_BROKER,
    STOP_BROKER,
    RESTART_BROKER,
    PAUSE_BROKER,
    KILL_NAME_SERVER,
    STOP_NAME_SERVER,
    RESTART_NAME_SERVER,
    PAUSE_NAME_SERVER,
    FILL_DISK,
    Configure(),
    KILL_PRODUCER,
    TERMINATE_PRODUCER,
    PAUSE_PRODUCER,
    Partition(),
    Loss(),
    Reset(),
    Delay(),
)

ACTS: Mapping[str, Act] = MappingProxyType({act.name: act for act in _ALL})
"""By name."""
