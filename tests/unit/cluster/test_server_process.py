"""A server that was killed is started again: in between nobody may take it for one that died by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.harness.cluster.base import NodeDeath
from rocketchaos.harness.cluster.server_process import ServerProcess


def test_while_it_is_started_again_a_killed_server_is_no_death(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
    server = ServerProcess("broker-a", "broker", "127.0.0.1:1", tmp_path, command=sleeps, owner="test")
    server.start()
    server.kill()
    seen: list[NodeDeath | None] = []

    class Watched(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            seen.append(server.death())
            super().__init__(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    try:
        server.start()
        assert seen == [None]
        assert server.death() is None
    finally:
        server.kill()
