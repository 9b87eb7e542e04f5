"""A process is starved of CPU: SIGSTOP and SIGCONT in turn, by a small process that ends with the harness."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from rocketchaos.harness.cluster.base import OnThisHost
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, PreconditionNotMet
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.faults.base import Fault
from rocketchaos.harness.reaper.reaper_process import OWNER_VARIABLE

if TYPE_CHECKING:
    from rocketchaos.harness.faults.context import FaultContext

_BURSTS = """\
import os, select, signal, sys
pid, stopped_s, running_s, whole_group = int(sys.argv[1]), *map(float, sys.argv[2:])
target = os.pidfd_open(pid)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

def send(number):
    signal.pidfd_send_signal(target, number)
    if whole_group:
        os.killpg(pid, number)

def over(seconds):
    # The harness closed the pipe, be it by its death; or the target has ended.
    return bool(select.select([0, target], [], [], seconds)[0])

print("ready", flush=True)
try:
    while True:
        send(signal.SIGSTOP)
        if over(stopped_s):
            break
        send(signal.SIGCONT)
        if over(running_s):
            break
finally:
    try:
        send(signal.SIGCONT)
    except ProcessLookupError:
        pass
"""
"""By a file descriptor of the process, so that none is met that has got its number meanwhile (Linux 5.3)."""
_LOOK_EVERY_S = 0.007
"""No divisor of usual bursts."""
_LOOKS_S, _CYCLES = 1.0, 10
"""It is observed for at least this time, and for this many bursts."""
_ENOUGH = 0.75
"""Of the share of the time that it is to stand still: a busy machine lets it run longer each time."""
_LIMIT_S = 10.0


class Stall(Fault):
    """A client's process runs part of the time only, until it is resumed, or killed; and so do those that it
    has started, as a script its program.
    """

    name = "stall"
    _whole_group = True
    """Clients are processes with a group of their own."""

    def __init__(self, context: FaultContext, name: str, *, stopped: int, running: int) -> None:
        """
        Args:
            context: of the run.
            name: whom it is done to.
            stopped: how long it stands still each time, in milliseconds.
            running: how long it runs in between, in milliseconds.
        """
        self.target = name
        self._context = context
        self._stopped_s, self._running_s = stopped / 1000, running / 1000
        self._pid = self._find_pid()
        self._bursts: subprocess.Popen[bytes] | None = None

    def _find_pid(self) -> int:
        client = self._context.members.client(self.target)
        if client.container is not None:
            raise PreconditionNotMet(
                f"stall: {self.target} is in {client.where}, whose processes can't be stalled from here"
            )
        return client.pid

    @property
    def is_past(self) -> bool:
        return self._bursts is None or self._bursts.poll() is not None

    def inject(self) -> None:
        """Begin the bursts.

        Raises:
            EnvironmentNotReady: the process that makes them can't be started.
        """
        environment = dict(os.environ)
        with contextlib.suppress(psutil.Error, KeyError):
            # The reaper ends it with what belongs to the same owner.
            environment[OWNER_VARIABLE] = psutil.Process(self._pid).environ()[OWNER_VARIABLE]
        bursts = subprocess.Popen(
            [
                sys.executable,
                "-I",
                "-S",
                "-c",
                _BURSTS,
                *map(str, (self._pid, self._stopped_s, self._running_s, int(self._whole_group))),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        assert bursts.stdout is not None
        self._bursts = bursts
        said = bursts.stdout.readline().strip()
        if said != b"ready":
            why = (said + b" " + bursts.stdout.read()).decode(errors="replace").strip().splitlines()
            self.cleanup()
            reason = why[-1] if why else "it doesn't say why"
            raise EnvironmentNotReady(
                f"stall: {self.target} (process {self._pid}) can't be sent signals: {reason}",
                "It needs Linux 5.3 or later.",
            )

    def wait_effective(self) -> str:
        """It is stopped (state T) in at least three quarters of the expected share of looks."""
        asked = self._stopped_s / (self._stopped_s + self._running_s)
        looks_s = max(_LOOKS_S, _CYCLES * (self._stopped_s + self._running_s))
        limit = time.monotonic() + _LIMIT_S + looks_s
        while True:
            used_before_s, began = self._used_s(), time.monotonic()
            looks = self._looks(began + looks_s)
            share = sum(looks) / max(1, len(looks))
            if share >= _ENOUGH * asked:
                used_ms = (self._used_s() - used_before_s) * 1000
                return (
                    f"process {self._pid} of {self.target} stands still in {share:.0%} of {len(looks)} looks, "
                    f"and used {used_ms:.0f} ms of CPU in {time.monotonic() - began:.1f} s"
                )
            if time.monotonic() > limit:
                raise PreconditionNotMet(
                    f"stall: process {self._pid} of {self.target} stands still in {share:.0%} of {len(looks)} "
                    f"looks; at least {_ENOUGH * asked:.0%} are needed"
                )

    def heal(self) -> None:
        """End the bursts; it goes on, should it still be there."""
        bursts = self._bursts
        self.cleanup()
        # Where whoever made the bursts was killed in the midst of one.
        if bursts is not None and bursts.returncode != 0 and self._is_there():
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if self._whole_group else os.kill)(self._pid, signal.SIGCONT)

    def wait_healed(self) -> str:
        """It is never seen standing still for some bursts, and it makes progress again."""
        looks_s = 3 * (self._stopped_s + self._running_s)
        before = _progress(self._pid)

        def goes_on() -> bool:
            stands = any(self._looks(time.monotonic() + looks_s))
            return not self._is_there() or (not stands and _progress(self._pid) > before)

        if not look_until(goes_on, bool, _LIMIT_S, 0.1):
            raise PreconditionNotMet(
                f"stall: process {self._pid} of {self.target} doesn't go on {_LIMIT_S:.0f} s after the last burst"
            )
        return f"process {self._pid} of {self.target} {'goes on' if self._is_there() else 'has ended'}"

    def cleanup(self) -> None:
        """End whoever makes the bursts, which ends them."""
        bursts = self._bursts
        if bursts is None or bursts.stdin is None or bursts.stdout is None:
            return
        with contextlib.suppress(BrokenPipeError):
            bursts.stdin.close()
        try:
            bursts.wait(_LIMIT_S)
        except subprocess.TimeoutExpired:
            bursts.kill()
            bursts.wait()
        bursts.stdout.close()

    def _looks(self, end: float) -> list[bool]:
        """Whether it stands still, again and again until then (`time.monotonic`)."""
        seen = []
        while time.monotonic() < end and self._is_there():
            with contextlib.suppress(psutil.Error):
                seen.append(psutil.Process(self._pid).status() == psutil.STATUS_STOPPED)
            time.sleep(_LOOK_EVERY_S)  # a sampling rate: no condition is awaited
        return seen

    def _used_s(self) -> float:
        try:
            times = psutil.Process(self._pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def _is_there(self) -> bool:
        """Whether the process that it was done to is still the target's."""
        client = self._context.members.client(self.target)
        return client.alive and client.pid == self._pid


class StallNode(Stall):
    """A server's process runs part of the time only, until it is resumed, or killed."""

    _whole_group = False

    def _find_pid(self) -> int:
        if not isinstance(self._context.servers.cluster, OnThisHost):
            raise HarnessDefect(
                f"nodes of a cluster of kind {self._context.servers.cluster.kind} can't be stalled"
            )
        return self._context.servers.cluster.host_pid(self.target)

    def _is_there(self) -> bool:
        return self._context.servers.node(self.target).pid == self._pid and psutil.pid_exists(self._pid)


def _progress(pid: int) -> int:
    """Grows while the process runs, or one that it has started: how often their threads were given the processor,
    and for how many ticks.

    A process that computes alone on its core is given it once, and keeps it. A script only waits for its program.
    """
    number = 0
    for own in _with_started(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = psutil.Process(own).cpu_times()
            number += round((times.user + times.system) * os.sysconf("SC_CLK_TCK"))
        for status in Path(f"/proc/{own}/task").glob("*/status"):
            with contextlib.suppress(OSError):
                lines = status.read_text(encoding="utf-8", errors="replace").splitlines()
                number += sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return number


def _with_started(pid: int) -> list[int]:
    with contextlib.suppress(psutil.Error):
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    return [pid]
