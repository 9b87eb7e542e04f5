"""The checks of the scenario language and the oracle behind them: pure functions of a run's history.

One file per check; a new one is registered here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assertions.answer import Answer as AnswerToRequest
from assertions.base import Answer, Check
from assertions.client_pull import ClientPull
from assertions.consumer_status import ConsumerStatus
from assertions.dashboard import Dashboard
from assertions.dead_letter import DeadLetter
from assertions.delivered import Delivered
from assertions.dropped import Dropped
from assertions.duplicated import Duplicated
from assertions.latency import Latency
from assertions.log import Log
from assertions.log_lapse import LogLapse
from assertions.notified import Notified
from assertions.offset_falls import OffsetFalls
from assertions.offsets import Offsets
from assertions.order import Order
from assertions.outcome_distribution import OutcomeDistribution
from assertions.ownership import Ownership
from assertions.placed import Placed
from assertions.pull import Pull
from assertions.refuted import Refuted
from assertions.retry import Retry
from assertions.same_client import SameClient
from assertions.several_owners import SeveralOwners
from assertions.start_refused import StartRefused
from assertions.subscription import Subscription
from assertions.track import Track
from assertions.track_series import TrackSeries
from assertions.undelivered import Undelivered

CHECKS: Mapping[str, type[Check]] = MappingProxyType(
    {
        check.word: check
        for check in (
            Delivered,
            Undelivered,
            Duplicated,
            Order,
            Latency,
            Retry,
            DeadLetter,
            Placed,
            Offsets,
            OffsetFalls,
            Subscription,
            SameClient,
            ConsumerStatus,
            Ownership,
            SeveralOwners,
            OutcomeDistribution,
            Track,
            TrackSeries,
            Dashboard,
            Pull,
            ClientPull,
            AnswerToRequest,
            Notified,
            Dropped,
            Log,
            LogLapse,
            StartRefused,
            Refuted,
        )
    }
)
"""By word."""

__all__ = ["CHECKS", "Answer", "Check"]
