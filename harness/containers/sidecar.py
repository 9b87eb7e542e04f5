"""Sidecars: containers that live in another one's network, where they may change what passes."""

import contextlib
import itertools
import shlex
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from docker.errors import NotFound
from docker.models.containers import Container

from rocketchaos.harness.containers.container_engine import Engine, refusals
from rocketchaos.harness.containers.labels import labels_of
from rocketchaos.harness.containers.launch import ContainerPlan, start
from rocketchaos.harness.containers.network_place import NetworkPlace
from rocketchaos.harness.core.errors import EnvironmentNotReady

_END = "rocketchaos-end"
_ATTEMPTS = 5
_FLAVOURS = ("iptables", "iptables-nft", "iptables-legacy")
"""Which of them works depends on the kernel; the first is the image's own choice."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that has ended."""

    code: int
    output: str
    """What it wrote, errors included."""


class Sidecar:
    """A container in the network of a target, with the right to change that network and nothing else."""

    def __init__(self, target: NetworkPlace, container: Container, network: str) -> None:
        self.target = target
        self.network = network
        """Tells the target's network from the one that it has after a restart."""
        self._container = container
        self._iptables: str | None = None
        self._numbers = itertools.count(1)

    def run(self, *command: str) -> Ran:
        """Run a command and wait for its end.

        Raises:
            EnvironmentNotReady: it can't be run, as after the target's end.
        """
        file = f"/tmp/output-{next(self._numbers)}"
        say = f"cat {file}; echo; echo {_END} $(cat {file}.code)"
        said = self._exec(f"{shlex.join(command)} > {file} 2>&1; echo $? > {file}.code; {say}")
        for _ in range(_ATTEMPTS):
            output, marked, code = said.rpartition(_END)
            if marked and code.strip().isdigit():
                return Ran(int(code), output.strip())
            # Engines sometimes lose the output of short commands, whose exit code is still 0.
            said = self._exec(say)
        raise EnvironmentNotReady(
            f"the output of `{command[0]}` in the network of {self.target.name} got lost: {said[-300:]!r}",
            "The container engine may be overloaded.",
        )

    def _exec(self, script: str) -> str:
        with refusals(f"nothing can be run in the network of {self.target.name}"):
            try:
                ended: Any = self._container.exec_run(["sh", "-c", script])
            except NotFound as error:
                raise EnvironmentNotReady(
                    f"the sidecar in the network of {self.target.name} is gone", "Was it removed by hand?"
                ) from error
        return str(ended.output.decode(errors="replace"))

    def iptables(self, *commands: Sequence[str]) -> str:
        """Run commands of iptables, one after the other; what they wrote.

        Raises:
            EnvironmentNotReady: one of them failed; those before it are done.
        """
        program = self._working_iptables()
        script = " && ".join(shlex.join([program, "-w", *command]) for command in commands)
        ran = self.run("sh", "-c", script)
        if ran.code != 0:
            raise EnvironmentNotReady(
                f"{program} failed in the network of {self.target.name}: {ran.output}",
                "The kernel may lack what it needs: xt_statistic for `loss`, ipt_REJECT for `reset`.",
            )
        return ran.output

    def _working_iptables(self) -> str:
        if self._iptables is None:
            refusals = []
            for program in _FLAVOURS:
                ran = self.run("sh", "-c", f"{program} -w -S OUTPUT")
                if ran.code == 0:
                    self._iptables = program
                    break
                refusals.append(f"{program}: {ran.output or f'exit code {ran.code}'}")
            else:
                raise EnvironmentNotReady(
                    "no iptables works in a container: " + "; ".join(refusals),
                    "The worker's image needs iptables, and the kernel its modules (nf_tables or ip_tables).",
                )
        return self._iptables

    def remove(self) -> None:
        """Remove it. Its changes to the target's network stay. Idempotent."""
        with contextlib.suppress(NotFound), refusals(f"the sidecar of {self.target.name} can't be removed"):
            self._container.remove(force=True, v=True)


class Sidecars:
    """The sidecars of a cluster, each made when it is first needed and there until `close`."""

    def __init__(self, engine: Engine, image: Callable[[], str], owner: str, run: str) -> None:
        """
        Args:
            engine: where the targets run.
            image: an image with iptables, iproute2 and python3, asked for with the first sidecar.
            owner: whose they are, for the reaper.
            run: to what they belong.
        """
        self._engine, self._image, self._owner, self._run = engine, image, owner, run
        self._sidecars: dict[str, Sidecar] = {}
        self._lock = threading.Lock()

    def place(self, name: str, container: str, advertised: str | None = None) -> NetworkPlace:
        """Where a container lives; `advertised` is the `host:port` that others use, if it listens.

        Raises:
            EnvironmentNotReady: it has no address: it doesn't run.
        """
        own = [
            str(network["IPAddress"])
            for network in self._attributes(name, container)["NetworkSettings"]["Networks"].values()
            if network.get("IPAddress")
        ]
        if not own:
            raise EnvironmentNotReady(f"{name} has no address: its container doesn't run", "See its log.")
        host, _, port = (advertised or "").rpartition(":")
        addresses = tuple(dict.fromkeys((*([host] if host else []), *own)))
        return NetworkPlace(name, container, addresses, int(port) if port else None)

    def of(self, place: NetworkPlace) -> Sidecar:
        """The sidecar in a container's network; each start of the container makes a new one.

        Raises:
            EnvironmentNotReady: the target doesn't run, or there is no image for it.
        """
        with self._lock:
            known, network = self._sidecars.get(place.container), self._network(place)
            if known is not None and known.network == network:
                return known
            if known is not None:
                known.remove()
            made = self._sidecars[place.container] = Sidecar(place, self._start(place), network)
            return made

    def is_current(self, sidecar: Sidecar) -> bool:
        """Whether the target's network is still the one in which the sidecar lives."""
        try:
            return self._network(sidecar.target) == sidecar.network
        except EnvironmentNotReady:
            return False

    def runs(self, place: NetworkPlace) -> bool:
        """Whether a container runs, or stands still."""
        try:
            return bool(self._attributes(place.name, place.container)["State"]["Running"])
        except EnvironmentNotReady:
            return False

    def close(self) -> None:
        """Remove them all. Idempotent."""
        with self._lock:
            while self._sidecars:
                self._sidecars.popitem()[1].remove()

    def _start(self, place: NetworkPlace) -> Container:
        plan = ContainerPlan(
            image=self._image(),
            name=f"rocketchaos-{self._run}-sidecar-{uuid.uuid4().hex[:8]}",
            labels=labels_of(self._owner, "sidecar", self._run),
            entrypoint=["sleep"],
            command=["infinity"],
            network_of=place.container,
            capabilities=["NET_ADMIN"],
            user="0",
        )
        return start(self._engine, plan)

    def _network(self, place: NetworkPlace) -> str:
        state = self._attributes(place.name, place.container)["State"]
        if not state["Running"]:
            raise EnvironmentNotReady(
                f"{place.name} has no network: its container doesn't run", "See its log."
            )
        return str(state["StartedAt"])

    def _attributes(self, name: str, container: str) -> Any:
        with refusals(f"the container of {name} can't be asked"):
            try:
                return self._engine.client.api.inspect_container(container)
            except NotFound as error:
                raise EnvironmentNotReady(f"the container of {name} is gone", "See its log.") from error
