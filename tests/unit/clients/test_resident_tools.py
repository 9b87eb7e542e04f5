"""Tools that stay: answers, refusals and defects through the socket, and what happens once they are gone."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.clients.resident_tools import ResidentTools
from rocketchaos.harness.clients.tools import Tools
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, RequestFailed
from rocketchaos.harness.workers.child.tools_server import ToolsServer
from rocketchaos.harness.workers.protocol import CommandFailed, ping

LIMIT_S = 5.0


class Spawned:
    """In place of a worker; it is never called one."""

    def __init__(self, *, starts: bool = True) -> None:
        self.asked: list[str] = []
        self.waiting, self.ended = threading.Event(), threading.Event()
        self._starts = starts

    @property
    def released(self) -> bool:
        return self.ended.is_set()

    def wait_ready(self, limit_s: float) -> None:
        assert limit_s > 0
        self.waiting.set()
        if not self._starts:
            assert self.ended.wait(LIMIT_S)
            raise EnvironmentNotReady("it died")

    def request(self, do: str, _limit_s: float, **_with: Any) -> dict[str, Any]:
        self.asked.append(do)
        return {}

    def release(self) -> None:
        self.ended.set()


def double(number: int) -> Mapping[str, Any]:
    return {"number": 2 * number}


def refuse() -> None:
    raise CommandFailed("no route", 17, ("MQClientException",))


def fail() -> None:
    raise KeyError("t")


@pytest.fixture
def path() -> Iterator[Path]:
    # A socket's path is short, and that of pytest's folder may not be.
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "tools.sock"


@pytest.fixture
def server(path: Path) -> Iterator[ToolsServer]:
    with ToolsServer(path, {"ping": ping, "double": double, "refuse": refuse, "fail": fail}) as made:
        serving = threading.Thread(target=made.serve_forever)
        serving.start()
        yield made
        made.shutdown()
        serving.join()


@pytest.mark.usefixtures("server")
def test_each_request_has_its_own_end(path: Path) -> None:
    tools = ResidentTools(path)
    assert tools.answers
    assert tools.request("double", LIMIT_S, number=4) == {"number": 8}
    with pytest.raises(RequestFailed, match="tools: `refuse` failed: no route") as refused:
        tools.request("refuse", LIMIT_S)
    assert (refused.value.code, refused.value.exceptions) == (17, ("MQClientException",))
    with pytest.raises(HarnessDefect, match="KeyError: 't'") as broken:
        tools.request("fail", LIMIT_S)
    assert "def fail" not in str(broken.value)
    assert "in fail" in broken.value.__notes__[0]


@pytest.mark.usefixtures("server")
def test_no_process_of_its_own_is_started_where_they_answer(path: Path) -> None:
    def spawn() -> Spawned:
        raise AssertionError

    tools = Tools(spawn, "n:1", resident=path)  # type: ignore[arg-type]
    tools.begin()
    assert tools.request("double", number=1) == {"number": 2}
    tools.release()
    assert ResidentTools(path).answers


def test_without_them_a_process_of_its_own_answers(path: Path) -> None:
    spawned = Spawned()
    tools = Tools(lambda: spawned, "n:1", resident=path)  # type: ignore[arg-type,return-value]
    assert not ResidentTools(path).answers
    assert tools.request("tracks") == {}
    assert spawned.asked == ["connect", "tracks"]
    tools.release()
    assert spawned.released


def test_a_process_that_still_starts_holds_nobody_up() -> None:
    spawned = Spawned(starts=False)
    tools = Tools(lambda: spawned, "n:1")  # type: ignore[arg-type,return-value]
    tools.begin()
    assert spawned.waiting.wait(LIMIT_S)
    tools.release()
    assert spawned.released
    assert spawned.asked == []


def test_tools_that_end_before_they_answer_are_no_answer(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        answers: list[bool] = []
        asking = threading.Thread(target=lambda: answers.append(ResidentTools(path).answers))
        asking.start()
        listening.accept()[0].close()
        asking.join(LIMIT_S)
        assert answers == [False]
        listening.close()
    with pytest.raises(EnvironmentNotReady, match=r"don't answer `double`: .*refused"):
        ResidentTools(path).request("double", LIMIT_S, number=1)
