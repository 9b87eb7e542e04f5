"""Sentences of the flakiness report."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from rocketchaos.spark_reports.flakiness.lines import Names, lines
from rocketchaos.spark_reports.flakiness.read import VersionRuns
from rocketchaos.spark_reports.flakiness.versions import version_changes
from rocketchaos.spark_reports.report import StoreSummary

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def of_version(version: str, hits: int) -> VersionRuns:
    return VersionRuns(
        "rocketmq",
        "tags",
        "java",
        None,
        "embedded",
        "compressed",
        version,
        6,
        hits,
        NOW,
        NOW,
        NOW,
        "r",
        "runs/r",
    )


def test_a_version_that_is_worse_does_not_fall_as_expected() -> None:
    store = StoreSummary("file:/store", 0, 0, 0, 0, None, None, 0, {}, 0)
    changes = version_changes([of_version("4.9.4", 6), of_version("5.1.4", 0)])
    (line,) = lines([], cast("Names", None), [], changes, [], store)
    assert line.startswith(
        "RocketMQ 4.9.4 → 5.1.4: the share of runs as expected of tags java embedded compressed fell from 1.00 to "
        "0.00 (p=0.0011); first bad run 2026-03-01"
    )
