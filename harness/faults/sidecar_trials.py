"""What is tried out in a container's network to prove a fault: programs for the sidecar's python3."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import EnvironmentNotReady

if TYPE_CHECKING:
    from rocketchaos.harness.containers.sidecar import Sidecar

CLOSED_PORT = 1
"""Nobody listens there, so that the kernel itself answers, with a reset."""

_CONNECT = """\
import socket, sys, time
begin = time.monotonic()
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), float(sys.argv[3])).close()
    print("connected")
except ConnectionRefusedError:
    print("refused")
except TimeoutError:
    print("no answer")
except OSError as error:
    print(error)
"""
_KNOCK = """\
import errno, select, socket, sys, time
address, port, count, limit_s = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
waiting = set()
answered = 0
for _ in range(count):
    one = socket.socket()
    one.setblocking(False)
    if one.connect_ex((address, port)) == errno.EINPROGRESS:
        waiting.add(one)
    else:
        answered += 1
end = time.monotonic() + limit_s
while waiting and time.monotonic() < end:
    for one in select.select([], list(waiting), [], max(0.0, end - time.monotonic()))[1]:
        waiting.discard(one)
        answered += 1
print(answered)
"""
_ECHO = """\
import json, socket, sys, time
address, port, payload, times = sys.argv[1], int(sys.argv[2]), bytes.fromhex(sys.argv[3]), int(sys.argv[4])
took = []
for _ in range(times):
    with socket.create_connection((address, port), 10.0) as one:
        begin = time.monotonic()
        one.sendall(payload)
        if not one.recv(1):
            raise SystemExit("the connection was closed without an answer")
        took.append((time.monotonic() - begin) * 1000)
print(json.dumps(took))
"""


@dataclass(frozen=True, slots=True)
class Trials:
    """Tries out what passes from a container's network to an address."""

    sidecar: Sidecar

    def connect(self, address: str, port: int, limit_s: float) -> str:
        """Try to connect: `connected`, `refused`, `no answer`, or what else went wrong."""
        return self._run(_CONNECT, address, str(port), str(limit_s))

    def knock(self, address: str, count: int, limit_s: float) -> int:
        """Knock at a closed port this many times at once; how many were answered."""
        return int(self._run(_KNOCK, address, str(CLOSED_PORT), str(count), str(limit_s)))

    def echo_ms(self, address: str, port: int, payload: bytes, times: int) -> list[float]:
        """Ask this many times, each over a connection of its own; milliseconds to the answer's first byte."""
        took: list[float] = json.loads(self._run(_ECHO, address, str(port), payload.hex(), str(times)))
        return took

    def _run(self, program: str, *arguments: str) -> str:
        ran = self.sidecar.run("python3", "-c", program, *arguments)
        if ran.code != 0:
            raise EnvironmentNotReady(
                f"a trial in the network of {self.sidecar.target.name} failed: {ran.output[-500:]}",
                "The worker's image needs python3.",
            )
        return ran.output
