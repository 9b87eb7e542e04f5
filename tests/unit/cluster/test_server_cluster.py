"""How a cluster waits for servers that end before they are up."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.cluster.server import Server
from rocketchaos.harness.cluster.server_cluster import _what_is_missing
from rocketchaos.harness.core.errors import EnvironmentNotReady


class Ending(Server):
    """A server that ends so many times before it is up."""

    pid = None

    def __init__(self, folder: Path, ends: int, says: str) -> None:
        super().__init__("broker-a", "broker", "198.18.0.9:10911", folder)
        self.starts, self.ends, self.last_words = 1, ends, says

    def start(self) -> None:
        self.starts += 1

    def printed(self) -> str:
        return self.last_words if self.starts <= self.ends else "boot success"

    def exit_reason(self) -> str | None:
        return "exit code 1" if self.starts <= self.ends else None

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


VANISHED = "NullPointerException at org.apache.rocketmq.common.utils.NetworkUtil.getLocalAddress"


def test_a_server_whose_reason_passes_gets_up(tmp_path: Path) -> None:
    server = Ending(tmp_path, ends=1, says=VANISHED)
    assert _what_is_missing([server], []) is None
    assert (server.starts, server.restarts) == (2, 1)


def test_one_that_ends_every_time_is_reported_with_its_last_words(tmp_path: Path) -> None:
    server = Ending(tmp_path, ends=9, says=VANISHED)
    assert _what_is_missing([server], []) == (server, "it hasn't said that it is up")
    assert _what_is_missing([server], []) == (server, "it hasn't said that it is up")
    with pytest.raises(
        EnvironmentNotReady, match=r"ended with exit code 1\n  The end of its output:\n    Null"
    ):
        _what_is_missing([server], [])
    assert server.starts == 3


def test_any_other_reason_is_reported_at_once(tmp_path: Path) -> None:
    server = Ending(tmp_path, ends=9, says="no disk")
    with pytest.raises(EnvironmentNotReady, match="no disk"):
        _what_is_missing([server], [])
    assert server.starts == 1
