"""Workers in containers, on the network of the servers, where faults of a network have something to bite."""

import itertools
import os
from pathlib import Path

from docker.errors import NotFound

import rocketchaos
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.labels import labels_of
from rocketchaos.harness.containers.launch import ContainerPlan, Subnet, start
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.workers.addresses import Addresses
from rocketchaos.harness.workers.child_command import child_command, prepare_folder
from rocketchaos.harness.workers.container_program import EVENTS_FD, SHELL, ContainerProgram, held_back
from rocketchaos.harness.workers.program import WorkerPlan

_PACKAGES = "/rocketchaos"


class InContainers:
    """Each worker is the first process of a container of its own.

    The image has Python, JPype and a JVM; our package and RocketMQ's jars are mounted, so that they are the
    harness's own. What its client writes lands in the same folder as a local worker's, owned by the same user.
    """

    def __init__(
        self,
        engine: Engine,
        image: str,
        subnet: Subnet,
        *,
        owner: str,
        run: str,
        addresses: Addresses | None = None,
    ) -> None:
        """
        Args:
            engine: on this host, or in a VM of this host.
            image: see `harness.containers.images`.
            subnet: that of the servers.
            owner: the label for the clean-up.
            run: likewise; also a part of the containers' names.
            addresses: those that are free, where others take some too.

        Raises:
            EnvironmentNotReady: the engine is on another host.
        """
        if not engine.base_url.startswith(("unix://", "http://", "tcp://")):
            raise EnvironmentNotReady(
                f"workers can't live in containers of {engine.base_url}: they need folders of this host",
                "Use an engine on this host, or leave out `workers: containers`.",
            )
        self._engine = engine
        self._image = image
        self._subnet = subnet
        self._owner = owner
        self._run = run
        self._addresses = addresses or Addresses(subnet)
        self._numbers = itertools.count(1)

    def launch(self, plan: WorkerPlan) -> ContainerProgram:
        """See `WorkerHome.launch`."""
        prepare_folder(plan)
        folder = plan.folder.absolute()
        address = self._addresses.take()
        container = None
        try:
            container = start(
                self._engine,
                ContainerPlan(
                    self._image,
                    f"rocketchaos-{self._run}-{plan.name}-{next(self._numbers)}",
                    labels_of(self._owner, "worker", self._run),
                    entrypoint=[SHELL],
                    command=held_back(child_command(plan, "python3", EVENTS_FD)),
                    # Nothing of us is in the image; nothing of this host's environment is of use there.
                    environment={
                        "PYTHONPATH": os.pathsep.join(map(str, filter(None, (plan.packages, _PACKAGES)))),
                        "PYTHONDONTWRITEBYTECODE": "1",
                        "HOME": str(folder),
                    },
                    mounts=_mounts(plan, folder),
                    subnet=self._subnet,
                    address=address,
                    keeps_stdin=True,
                    keeps_log=False,
                    user=self._engine.user,
                ),
            )
            return ContainerProgram(
                self._engine,
                container,
                plan.name,
                address,
                plan.log,
                on_gone=lambda: self._addresses.give_back(address),
            )
        except BaseException as error:
            if container is not None:
                container.remove(force=True, v=True)
            self._addresses.give_back(address)
            if isinstance(error, OSError | NotFound):
                raise EnvironmentNotReady(f"worker {plan.name} can't be started: {error}") from error
            raise


def _mounts(plan: WorkerPlan, folder: Path) -> dict[Path, tuple[str, str]]:
    package = Path(rocketchaos.__file__).absolute().parent
    # In a checkout its rooms are links to folders beside it.
    rooms = {room for room in (item.resolve() for item in package.iterdir()) if room.is_dir()}
    own = {item: (f"{_PACKAGES}/{item.name}", "ro") for item in (package, *rooms) if item.parent != package}
    mounts = {**own, folder: (str(folder), "rw")}
    # At their own places, so that one list of jars holds here and there.
    here = [*_roots(plan.classpath), plan.packages, plan.library and plan.library.parent]
    here.append(None if plan.program is None else plan.program.folder)
    return mounts | {item: (str(item), "ro") for item in here if item is not None}


def _roots(files: tuple[Path, ...]) -> list[Path]:
    """The folder that all of these files are in."""
    if not files:
        return []
    return [Path(os.path.commonpath([file.absolute().parent for file in files]))]
