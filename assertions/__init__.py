"""The checks of the scenario language and the oracle behind them: pure functions of a run's history.

One file per check; a new one is registered here.
"""

from __future__ import annotations

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.harness.language.word_registry import WordRegistry

CHECKS: WordRegistry[Check] = WordRegistry(
    __name__,
    "delivered",
    "undelivered",
    "duplicated",
    "order",
    "latency",
    "batch",
    "retry",
    "dead-letter",
    "placed",
    "offsets",
    "offset-falls",
    "subscription",
    "same-client",
    "consumer-status",
    "diagnose",
    "ownership",
    "several-owners",
    "outcome-distribution",
    "track",
    "track-series",
    "dashboard",
    "pull",
    "client-pull",
    "answer",
    "mqadmin",
    "notified",
    "dropped",
    "log",
    "log-lapse",
    "check-command",
    "start-refused",
    "subscribe-refused",
    "seek-refused",
    "send-refused",
    "recall-refused",
    "replied",
    "reply-refused",
    "transaction-checked",
    "refuted",
)
"""By word."""

__all__ = ["CHECKS", "Answer", "Check"]
