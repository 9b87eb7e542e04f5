"""The Spark of a command, by how much it has to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.cli import report_options
from rocketchaos.harness.cli.report_options import spark_to_ingest
from rocketchaos.harness.core.errors import EnvironmentNotReady

MIB = 2**20


def _file(path: Path, mib: int) -> None:
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(mib * MIB)


@pytest.mark.parametrize(
    ("runs_mib", "store_mib", "small", "tiny"),
    [
        (1, None, True, True),
        (33, None, True, False),
        (513, None, False, False),
        (1, 4, True, False),
        (1, 17, False, False),
    ],
)
def test_few_runs_for_a_small_store_get_a_spark_that_starts_fast(
    runs_mib: int,
    store_mib: int | None,
    small: bool,
    tiny: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[bool, bool]] = []

    @contextmanager
    def spark_for(*_of: Any, **options: Any) -> Iterator[tuple[None, None]]:
        asked.append((options["small"], options["tiny"]))
        yield None, None

    monkeypatch.setattr(report_options, "spark_for", spark_for)
    _file(tmp_path / "runs" / "s" / "a" / "events.jsonl", runs_mib)
    if store_mib is not None:
        _file(tmp_path / "store" / "runs" / "part", store_mib)
    with spark_to_ingest([str(tmp_path / "runs")], str(tmp_path / "store"), None):
        pass
    with spark_to_ingest([str(tmp_path / "runs"), "s3a://bucket/runs"], str(tmp_path / "store"), None):
        pass
    assert asked == [(small, tiny), (False, False)]


def test_a_store_that_cannot_be_written_is_named_before_spark_starts(tmp_path: Path) -> None:
    """A read-only store was a traceback, after 15 s."""
    _file(tmp_path / "runs" / "s" / "a" / "events.jsonl", 1)
    with (
        pytest.raises(EnvironmentNotReady, match="/proc can't be written"),
        spark_to_ingest([str(tmp_path / "runs")], "/proc", None),
    ):
        pass
