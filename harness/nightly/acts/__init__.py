"""What is done to running groups and to servers; a new act is registered here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.nightly.acts.base import Act
from harness.nightly.acts.configure import Configure
from harness.nightly.acts.join import Join
from harness.nightly.acts.kill import Kill
from harness.nightly.acts.network import Delay, Loss, Partition, Reset
from harness.nightly.acts.pause import Pause
from harness.nightly.acts.producer import KILL_PRODUCER, PAUSE_PRODUCER, TERMINATE_PRODUCER
from harness.nightly.acts.resubscribe import Resubscribe
from harness.nightly.acts.rolling import Rolling
from harness.nightly.acts.server import (
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
from harness.nightly.acts.stop import Stop
from harness.nightly.acts.terminate import Terminate
from harness.nightly.acts.unsubscribe import Unsubscribe
from harness.nightly.acts.wave import Wave

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
