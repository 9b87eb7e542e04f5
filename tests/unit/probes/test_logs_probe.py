"""The files in which a `log` check looks for lines of a client."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from rocketchaos.harness.probes.logs_probe import matching_lines, time_in


def context(folder: Path, leaders: Mapping[str, str] = MappingProxyType({})) -> Any:
    servers = SimpleNamespace(is_node=lambda name: False)
    return SimpleNamespace(
        servers=servers,
        logs=SimpleNamespace(folder=folder),
        names=SimpleNamespace(token="mx0token"),
        scenario=SimpleNamespace(leaders=leaders),
    )


def test_the_logs_of_every_client_are_read(tmp_path: Path) -> None:
    """Java and Go write `*.log`, the C++ client `*.log.0` and on."""
    logs = tmp_path / "a" / "logs" / "rocketmq-cpp"
    logs.mkdir(parents=True)
    (tmp_path / "a" / "rocketmq_client.log").write_text("one unfinished\n")
    (logs / "31_rocketmq-cpp.log.0").write_text("two unfinished of g-mx0token\nother\n")
    (logs / "31_rocketmq-cpp.log.1").write_text("three unfinished\n")
    (logs / "31_rocketmq-cpp.log.gz").write_bytes(b"unfinished")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "b.log").write_text("another's unfinished\n")
    found = matching_lines(context(tmp_path), "a", "unfinished")
    assert found == ["two unfinished of g", "three unfinished", "one unfinished"]


def test_clients_beside_one_another_have_one_log(tmp_path: Path) -> None:
    """It lies in the folder of the first of them; in one of its own nobody ever writes."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "rocketmq_client.log").write_text("started g-mx0token\n")
    found = matching_lines(context(tmp_path, {"a": "a", "b": "a"}), "b", "started")
    assert found == ["started g"]


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("2026-11-28 14:15:10.241 WARN PullMessageThread_7 - not latest", "2026-11-28 14:15:10.241"),
        ("2026-11-28 14:15:10 INFO main - started", "2026-11-28 14:15:10"),
        ("[2026-Nov-28 14:48:20.123456](info):shutdown", "2026-11-28 14:48:20.123456"),
        ("[2026-Foo-28 14:48:20](info)", None),
        ("no time", None),
    ],
)
def test_the_time_of_a_line_as_each_client_writes_it(line: str, time: str | None) -> None:
    assert time_in(line) == time
