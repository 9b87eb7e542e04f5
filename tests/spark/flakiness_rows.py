"""Runs of a test's own for the flakiness report."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

BEGIN = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)

Row = dict[str, Any]


def run_row(number: int, end: str = "+", **more: Any) -> Row:
    """One run, an hour after the one before.

    Args:
        number: of the run, its key, and its place in time.
        end: `+` as expected, `-` not, `r` measured and reproduced, `n` measured and not, `E` the environment
            failed, `H` the harness failed, `I` interrupted, `P` a precondition did not hold.
        more: other columns, which win.
    """
    ends: dict[str, Row] = {
        "+": {"outcome": "reproduced", "expected": "reproduced", "as_expected": True},
        "-": {"outcome": "not-reproduced", "expected": "reproduced", "as_expected": False},
        "r": {"outcome": "reproduced"},
        "n": {"outcome": "not-reproduced"},
        "E": {"outcome": "error", "expected": "reproduced", "as_expected": False, "trouble": "environment"},
        "H": {"outcome": "error", "expected": "reproduced", "as_expected": False, "trouble": "harness"},
        "I": {
            "outcome": "inconclusive",
            "expected": "reproduced",
            "as_expected": False,
            "trouble": "interrupted",
        },
        "P": {
            "outcome": "inconclusive",
            "expected": "reproduced",
            "as_expected": False,
            "trouble": "precondition",
        },
    }
    return {
        "run_key": number,
        "run": f"run-{number:04}",
        "source": f"runs/{number:04}",
        "batch": "one",
        "scenario": "tags",
        "client": "java",
        "client_version": "5.5.0",
        "rocketmq": "5.5.0",
        "cluster": "embedded",
        "timing": "compressed",
        "harness_version": "0.1.0",
        "host": "ci-1",
        "started": BEGIN + timedelta(hours=number),
        "clock_jump_ms": 0,
        **ends[end],
        **more,
    }


def run_rows(ends: Iterable[str], first: int = 1, **more: Any) -> list[Row]:
    """Runs of one cell, in order of time: `run_rows("+++-+")`."""
    return [run_row(first + place, end, **more) for place, end in enumerate(ends)]


def finding_row(run_key: int, signature: str, **more: Any) -> Row:
    """One finding."""
    return {
        "run_key": run_key,
        "kind": "check",
        "side": "product",
        "text": f"{signature} ({run_key})",
        "signature": signature,
        "occurrences": 1,
        **more,
    }
