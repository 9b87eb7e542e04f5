"""A client is stalled with all processes that it has started, as a script its program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest

from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.faults.context import FaultContext
from rocketchaos.harness.faults.stall import Stall

SCRIPT = """\
{python} -c 'while True: pass' &
echo $! > {said}
wait $!
"""


@pytest.fixture
def script(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """The process ids of a script, and of the program that it waits for."""
    said = tmp_path / "said"
    text = SCRIPT.format(python=sys.executable, said=said)
    process = subprocess.Popen(["sh", "-c", text], start_new_session=True)
    try:
        found = look_until(lambda: said.exists() and said.read_text().strip(), bool, 10, 0.02)
        yield process.pid, int(found)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_the_program_of_a_script_stands_still_and_goes_on(script: tuple[int, int]) -> None:
    pid, program = script
    client = SimpleNamespace(pid=pid, container=None, alive=True)
    context: Any = SimpleNamespace(members=SimpleNamespace(client=lambda name: client))
    stall = Stall(cast(FaultContext, context), "a", stopped=100, running=20)
    stall.inject()
    try:
        stopped = look_until(
            lambda: psutil.Process(program).status(), lambda seen: seen == psutil.STATUS_STOPPED, 5, 0.007
        )
        assert stopped == psutil.STATUS_STOPPED
        assert "stands still" in stall.wait_effective()
        stall.heal()
        # The script itself only waits.
        assert f"process {pid} of a goes on" in stall.wait_healed()
        assert psutil.Process(program).status() == psutil.STATUS_RUNNING
    finally:
        stall.cleanup()
