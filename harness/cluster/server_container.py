"""A server as a container on the cluster's own network."""

import contextlib
import signal
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from docker.errors import APIError, NotFound
from docker.models.containers import Container

from rocketchaos.harness.cluster.server import Server
from rocketchaos.harness.containers.container_engine import Engine, refusals, until_frozen
from rocketchaos.harness.containers.launch import ContainerPlan, published_ports, start
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.reaper.reaper_process import same_process
from rocketchaos.harness.rocketmq import reach

_STATE_LIMIT_S = 20
_SHUTDOWN_LIMIT_S = 60
_LINES = 200
# Images start Java from shell scripts, which as process 1 take no notice of SIGTERM and don't pass it on; so
# `docker stop` would kill RocketMQ in the end. Not every image has `ps`.
_TERMINATE_JAVA = (
    'for process in /proc/[0-9]*; do [ "$(cat "$process/comm" 2> /dev/null)" = java ]'
    ' && kill -TERM "${process#/proc/}"; done; true'
)


class ServerContainer(Server):
    """A server in a container; its folder is there at `harness.cluster.container_cluster.FOLDER`."""

    def __init__(
        self,
        name: str,
        role: str,
        address: str,
        folder: Path,
        slave_of: str | None = None,
        registered: str | None = None,
        *,
        engine: Engine,
        plan: ContainerPlan,
    ) -> None:
        """As `Server`, and:

        Args:
            engine: where it runs.
            plan: what is started.
        """
        super().__init__(name, role, address, folder, slave_of, registered)
        self._engine = engine
        self._plan = plan
        self._container: Container | None = None
        self._pid: int | None = None
        self._created_s = 0.0
        self._log_begin = 0

    def start(self) -> None:
        """Create and start the container; one that was started before starts again, with all its files."""
        self._log_begin = self.log.stat().st_size if self.log.exists() else 0
        if self._container is None:
            self._container = start(self._engine, self._plan)
        else:
            with refusals(f"{self.name} can't be started"):
                self._container.start()
        # Only now: until then it is the container that was killed or stopped before that others ask about.
        self._ended_by_us = self.paused = False
        state = self._state()
        if self._engine.in_vm:
            self._publish(published_ports(self._container))
            return
        self._pid = state["Pid"] or None
        with contextlib.suppress(psutil.NoSuchProcess):
            self._created_s = psutil.Process(self._pid).create_time()

    def _publish(self, ports: Mapping[int, str]) -> None:
        """Its ports are there now, on this host; where its own address leads there, that is no news."""
        if self._engine.in_vm and self._plan.address is not None:
            reach.publish(self._plan.address, ports)

    @property
    def pid(self) -> int | None:
        return self._pid

    @property
    def container(self) -> str | None:
        return None if self._container is None else self._container.id

    def printed(self) -> str:
        if self._container is None:
            return ""
        try:
            output: bytes = self._container.logs(tail=_LINES)
        except APIError:  # it is gone
            return ""
        return output.decode("utf-8", errors="replace")

    def why_not_up(self) -> str | None:
        try:
            with self.log.open("rb") as log:
                log.seek(self._log_begin)
                up = self.says.encode() in log.read()
        except OSError:
            up = False
        return None if up else "it hasn't said that it is up"

    def exit_reason(self) -> str | None:
        if self._container is None or (self.pid and same_process(self.pid, self._created_s)):
            # The engine is spared the question: this is asked all the time.
            return None
        try:
            state = self._state()
        except NotFound:
            return "its container was removed"
        if state["Running"]:
            return None
        if state.get("OOMKilled"):
            return "out of memory: killed by the kernel"
        code = int(state["ExitCode"])
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(code - 128).name}"
        return f"exit code {code}"

    def pause(self) -> None:
        self._freeze("pause", lambda container: container.pause(), "paused")
        self.paused = True

    def resume(self) -> None:
        self._freeze("resume", lambda container: container.unpause(), "running")
        self.paused = False

    def _freeze(self, what: str, do: Callable[[Container], None], wanted: str) -> None:
        if self._container is None or self.exit_reason() is not None:
            raise EnvironmentNotReady(f"{self.name} is gone: it can't {what}", f"Its log: {self.log}")
        with refusals(f"{self.name} can't {what}"):
            until_frozen(partial(do, self._container))
            self._await(lambda state: state["Status"] == wanted, _STATE_LIMIT_S, f"didn't {what}")

    def terminate(self) -> None:
        if self._container is None or self.exit_reason() is not None:
            return
        self._ended_by_us = True
        with refusals(f"{self.name} can't be shut down"):
            self._container.exec_run(["sh", "-c", _TERMINATE_JAVA])
            self._await(lambda state: not state["Running"], _SHUTDOWN_LIMIT_S, "didn't shut down")
        self._publish({})

    def kill(self) -> None:
        if self._container is None or self.exit_reason() is not None:
            return
        self._ended_by_us = True
        with refusals(f"{self.name} can't be killed"):
            with contextlib.suppress(NotFound):
                self._container.kill("SIGKILL")
            self._await(lambda state: not state["Running"], _STATE_LIMIT_S, "outlived SIGKILL")
        self._publish({})

    def remove(self) -> None:
        if self._container is not None:
            self._ended_by_us = True
            with refusals(f"{self.name} can't be removed"), contextlib.suppress(NotFound):
                self._container.remove(force=True, v=True)
        if self._plan.address is not None:
            reach.withdraw(self._plan.address)

    def _state(self) -> dict[str, Any]:
        assert self._container is not None
        self._container.reload()
        state: dict[str, Any] = self._container.attrs["State"]
        return state

    def _await(self, condition: Callable[[dict[str, Any]], bool], limit_s: float, otherwise: str) -> None:
        state = look_until(self._state, condition, limit_s, 0.01)
        if not condition(state):
            raise EnvironmentNotReady(
                f"{self.name} {otherwise} within {limit_s:g} s: its container is {state['Status']}",
                f"Its log: {self.log}",
            )
