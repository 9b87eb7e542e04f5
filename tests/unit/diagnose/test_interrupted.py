"""Ctrl-C at any time: exit code 130, no traceback, no connection, and no file that is there by half."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.whole_file import write_whole


class Silent:
    """A name server that takes connections and requests, and answers none."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self.open: set[socket.socket] = set()
        self.asked = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.open.add(connection)
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        try:
            while connection.recv(65536):
                self.asked += 1
        except OSError:
            pass
        finally:
            self.open.discard(connection)
            connection.close()

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def silent() -> Iterator[Silent]:
    server = Silent()
    yield server
    server.close()


_until = retry(retry=retry_if_result(lambda held: not held), wait=wait_fixed(0.02), stop=stop_after_delay(30))


@pytest.mark.parametrize("after_s", [0, 0.05, 0.3, 1.0])
def test_interrupted_while_it_asks(silent: Silent, tmp_path: Path, after_s: float) -> None:
    command = [sys.executable, "-m", "rocketchaos", "diagnose", "--namesrv", silent.address]
    command += ["--bundle", str(tmp_path / "made" / "b.json"), "--write-scenario", str(tmp_path / "written")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        _until(lambda: silent.asked > 0)()
        time.sleep(after_s)  # the moment at which it is interrupted
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == ExitCode.INTERRUPTED, err
    assert "Traceback" not in err
    assert "interrupted" in err
    assert not out
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    _until(lambda: not silent.open)()


def test_a_file_whose_writing_is_interrupted_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "b.json"
    write_whole(path, b"before", mode=0o600)

    def interrupted(*_unused: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o077 == 0
