"""`run --hold`: says where to look, and waits for the user."""

from __future__ import annotations

import shlex
import sys
import threading

from rocketchaos.harness.cli.ending import Terminated
from rocketchaos.harness.cli.terminal import ERR
from rocketchaos.harness.engine.hold import Held


def hold_for_user(held: Held) -> None:
    """Say where to look; returns upon Enter or Ctrl-C.

    Raises:
        Terminated: SIGTERM, which ends the run.
    """
    groups = ", ".join(f"{name} is {real}" for name, real in held.groups.items())
    ERR.print(f"Held open: name server {held.nameserver}; groups: {groups}.")
    group, proxy = next(iter(held.groups.values()), "G"), f" --proxy {held.proxy}" if held.proxy else ""
    ERR.print(
        f"`rocketchaos diagnose --namesrv {shlex.quote(held.nameserver)} --group {group}{proxy}` "
        "looks at it. Enter or Ctrl-C ends the hold."
    )
    try:
        if not sys.stdin.readline():  # no Enter can come
            threading.Event().wait()
    except KeyboardInterrupt as end:
        if isinstance(end, Terminated):
            raise
