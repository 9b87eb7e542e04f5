"""`tc netem`: the kernel itself lets what leaves a container's network wait."""

import threading
import uuid
from collections.abc import Callable

from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.labels import labels_of
from rocketchaos.harness.containers.launch import ContainerPlan, start
from rocketchaos.harness.containers.network_place import NetworkPlace
from rocketchaos.harness.containers.sidecar import Sidecar, Sidecars
from rocketchaos.harness.core.errors import EnvironmentNotReady

_known: dict[str, str] = {}
"""Why a kernel can't, by where its engine is; empty: it can."""
_lock = threading.Lock()


class Netem:
    """The delay of whatever a container sends."""

    mechanism = "tc netem"

    def __init__(self, sidecars: Sidecars, place: Callable[[], NetworkPlace]) -> None:
        self._sidecars, self._place = sidecars, place

    def set(self, delay_ms: int, jitter_ms: int) -> None:
        """Delay every packet that it sends by this time, plus or minus the jitter.

        Raises:
            EnvironmentNotReady: the kernel refuses.
        """
        sidecar = self._sidecars.of(self._place())
        for interface in _interfaces(sidecar):
            ran = sidecar.run(*delay_command(interface, delay_ms, jitter_ms))
            if ran.code != 0:
                raise EnvironmentNotReady(
                    f"tc failed in the network of {sidecar.target.name}: {ran.output}",
                    "The kernel needs sch_netem.",
                )

    def clear(self) -> None:
        """Nothing waits any more. Idempotent; a network that is gone took its delay along."""
        place = self._place()
        if not self._sidecars.runs(place):
            return
        sidecar = self._sidecars.of(place)
        for interface in _interfaces(sidecar):
            if "netem" in sidecar.run("tc", "qdisc", "show", "dev", interface).output:
                sidecar.run("tc", "qdisc", "del", "dev", interface, "root")


def delay_command(interface: str, delay_ms: int, jitter_ms: int) -> tuple[str, ...]:
    """The arguments of `tc`; without a distribution netem's jitter is even."""
    jitter = (f"{jitter_ms}ms",) if jitter_ms else ()
    return ("tc", "qdisc", "replace", "dev", interface, "root", "netem", "delay", f"{delay_ms}ms", *jitter)


def why_not(engine: Engine, image: Callable[[], str], owner: str, run: str) -> str:
    """Why the engine's kernel can't delay; empty if it can. Tried out once for each engine.

    Raises:
        EnvironmentNotReady: the trial's container can't be started.
    """
    with _lock:
        if engine.base_url not in _known:
            _known[engine.base_url] = _try(engine, image(), owner, run)
        return _known[engine.base_url]


def _try(engine: Engine, image: str, owner: str, run: str) -> str:
    name = f"rocketchaos-{run}-netem-{uuid.uuid4().hex[:8]}"
    plan = ContainerPlan(
        image=image,
        name=name,
        labels=labels_of(owner, "sidecar", run),
        entrypoint=["sleep"],
        command=["infinity"],
        capabilities=["NET_ADMIN"],
        user="0",
    )
    container = start(engine, plan)
    sidecar = Sidecar(NetworkPlace(name, str(container.id), ()), container, "")
    try:
        ran = sidecar.run(*delay_command("lo", 1, 0))
        return "" if ran.code == 0 else ran.output.splitlines()[0] if ran.output else f"exit code {ran.code}"
    finally:
        sidecar.remove()


def _interfaces(sidecar: Sidecar) -> list[str]:
    """The interfaces by which others are reached: all but loopback."""
    output = sidecar.run("ip", "-o", "-4", "addr", "show").output
    names = [line.split()[1] for line in output.splitlines() if len(line.split()) > 1]
    return [name for name in dict.fromkeys(names) if name != "lo"]
