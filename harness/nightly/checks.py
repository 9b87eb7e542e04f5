"""The checks of a scenario without an expectation: they read what the invariants need. Pure."""

from collections.abc import Iterable
from typing import Any

REFUSALS = ("subscription not exist, group: {group}", "subscription is not latest, group: {group}")
"""The lines that brokers log when they refuse a pull because of the subscription (`PullMessageProcessor`, 4.9.4
and 5.3.3)."""


def open_checks(groups: Iterable[str], brokers: Iterable[str]) -> dict[str, Any]:
    """The sections of checks: whether messages stay undelivered, and which refusals brokers log."""
    names = list(brokers)
    return {
        "anomaly": [{"undelivered": {"at_least": 1}}],
        "healthy": [{"undelivered": {"count": 0}}],
        "tendency": [
            {"log": {"node": broker, "matches": refusal.format(group=group), "at_least": 1}}
            for group in groups
            for broker in names
            for refusal in REFUSALS
        ],
        "expected": "measured",
    }
