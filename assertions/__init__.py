"""The checks of the scenario language and the oracle behind them: pure functions of a run's history.

One file per check; a new one is registered here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assertions.base import Answer, Check
from assertions.delivered import Delivered
from assertions.offsets import Offsets
from assertions.ownership import Ownership
from assertions.refuted import Refuted
from assertions.subscription import Subscription
from assertions.track import Track
from assertions.undelivered import Undelivered

CHECKS: Mapping[str, type[Check]] = MappingProxyType(
    {
        check.word: check
        for check in (Delivered, Undelivered, Offsets, Subscription, Ownership, Track, Refuted)
    }
)
"""By word."""

__all__ = ["CHECKS", "Answer", "Check"]
