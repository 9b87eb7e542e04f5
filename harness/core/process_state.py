"""Pause or continue a process of this host, and wait until that shows."""

from __future__ import annotations

import signal
import subprocess

import psutil
from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.core.errors import EnvironmentNotReady

_STATE_LIMIT_S = 5.0
_LOOK_EVERY_S = 0.002


def stand_still(process: subprocess.Popen[bytes] | None, who: str, hint: str = "") -> None:
    """SIGSTOP it; returns when the kernel says that it stands still.

    Raises:
        EnvironmentNotReady: it is gone, or still runs after 5 s.
    """
    _send(process, who, signal.SIGSTOP, hint)


def go_on(process: subprocess.Popen[bytes] | None, who: str, hint: str = "") -> None:
    """SIGCONT it; returns when the kernel says that it runs again.

    Raises:
        EnvironmentNotReady: it is gone, or still stands after 5 s.
    """
    _send(process, who, signal.SIGCONT, hint)


def _send(process: subprocess.Popen[bytes] | None, who: str, number: signal.Signals, hint: str) -> None:
    if process is not None:
        process.send_signal(number)  # nothing if it has ended
    stands = number == signal.SIGSTOP
    tries = Retrying(
        stop=stop_after_delay(_STATE_LIMIT_S),
        wait=wait_fixed(_LOOK_EVERY_S),
        retry=retry_if_result(
            lambda status: status != psutil.STATUS_ZOMBIE and (status == psutil.STATUS_STOPPED) != stands
        ),
    )
    try:
        status = tries(lambda: _status(process))
    except RetryError as error:
        raise EnvironmentNotReady(
            f"{who} did not react to {number.name} within {_STATE_LIMIT_S:g} s; "
            f"last seen: {error.last_attempt.result()}",
            hint,
        ) from error
    if status == psutil.STATUS_ZOMBIE:
        raise EnvironmentNotReady(f"{who} has ended: {number.name} can't reach it", hint)


def _status(process: subprocess.Popen[bytes] | None) -> str:
    """As psutil names it; what has ended, or was never started, is a zombie here."""
    if process is None or process.poll() is not None:
        return str(psutil.STATUS_ZOMBIE)
    try:
        return str(psutil.Process(process.pid).status())
    except psutil.NoSuchProcess:
        return str(psutil.STATUS_ZOMBIE)
