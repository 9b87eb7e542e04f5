"""Workers load JPype without numpy, where that is installed; nobody else is kept from it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("program", ["java_child", "admin_child"])
def test_a_worker_s_program_loads_no_numpy(program: str) -> None:
    pytest.importorskip("numpy")
    code = f"import sys, rocketchaos.harness.workers.child.{program}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0


def test_who_loads_it_later_gets_it() -> None:
    pytest.importorskip("numpy")
    code = "import rocketchaos.harness.workers.child.java_child, numpy; numpy.zeros(1)"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0
