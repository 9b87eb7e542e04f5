"""A container image of the user's as a consumer: a container of its own on the network of the servers.

It runs with its own entrypoint and user, and is seen by what it prints; otherwise it is left alone.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from docker.errors import NotFound
from docker.models.containers import Container

from rocketchaos.harness.containers.container_engine import refusals
from rocketchaos.harness.containers.images import Progress, users_image
from rocketchaos.harness.containers.labels import labels_of
from rocketchaos.harness.containers.launch import ContainerPlan, create
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.language.app_spec import FILES_INSIDE, App
from rocketchaos.harness.workers.command_home import AT_ONCE
from rocketchaos.harness.workers.container_output import ContainerOutput
from rocketchaos.harness.workers.container_place import ContainerPlace
from rocketchaos.harness.workers.container_program import Contained
from rocketchaos.harness.workers.printed_output import PrintedOutput
from rocketchaos.harness.workers.program import WorkerPlan

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class ImageHome:
    """The home of one user's image; see `WorkerHome`."""

    place: ContainerPlace
    """The network of the servers."""
    app: App
    """With addresses for its placeholders, and `FILES_INSIDE` for its files."""
    files: Path
    """The folder that has those on this host."""
    progress: Progress
    """Told in a few words what takes time."""

    def launch(self, plan: WorkerPlan) -> ImageProgram:
        """See `WorkerHome.launch`."""
        place, app = self.place, self.app
        assert app.image is not None
        image = users_image(place.engine, app.image, self.progress)
        place.images[app.image] = image
        address = place.addresses.take()
        container: Container | None = None
        try:
            container = create(
                place.engine,
                ContainerPlan(
                    # By its id, so that all containers of a run are of one image.
                    image,
                    f"rocketchaos-{place.run}-{plan.name}-{next(_numbers)}",
                    labels_of(place.owner, "program", place.run),
                    command=app.args or None,
                    environment={**AT_ONCE, **app.env},
                    mounts=self._mounts(),
                    subnet=place.subnet,
                    address=address,
                    keeps_log=False,
                ),
            )
            return ImageProgram(place, container, plan, address, app)
        except BaseException as error:
            if container is not None:
                with suppress(NotFound):
                    container.remove(force=True, v=True)
            place.addresses.give_back(address)
            if isinstance(error, OSError | NotFound):
                raise EnvironmentNotReady(
                    f"the container of {plan.name} can't be started: {error}"
                ) from error
            raise

    def _mounts(self) -> dict[Path, tuple[str, str]]:
        if not self.app.files:
            return {}
        # The image's user is another than this one.
        self.files.chmod(0o755)
        for file in self.files.iterdir():
            file.chmod(0o644)
        return {self.files.absolute(): (FILES_INSIDE, "ro,z")}


class ImageProgram(Contained):
    """The container of a user's image, whose output is read here."""

    foreign_clock = False

    def __init__(
        self, place: ContainerPlace, container: Container, plan: WorkerPlan, address: str, app: App
    ) -> None:
        """
        Args:
            place: the network of the servers.
            container: has been made, and isn't started yet.
            plan: where its log is.
            address: its own, given back when it is gone.
            app: with addresses for its placeholders.

        Raises:
            EnvironmentNotReady: it can't be started.
            OSError: its log can't be written.
        """
        super().__init__(
            place.engine, container, plan.name, address, lambda: place.addresses.give_back(address)
        )
        self._output = ContainerOutput(place.engine, self._id, self._see_end)
        try:
            with refusals(f"the container of {plan.name} can't be started from the image {app.image}"):
                container.start()
            self._learn_pid()
            # STOPSIGNAL of the image; the engine sends SIGTERM where there is none (`docker stop`).
            inspected = place.engine.client.api.inspect_container(self._id)
            self.stop_signal = str(inspected["Config"].get("StopSignal") or self.stop_signal)
            self._begin_to_read(plan, app)
        except BaseException:
            with suppress(NotFound):
                container.remove(force=True, v=True)
            self._output.close()
            raise

    def _begin_to_read(self, plan: WorkerPlan, app: App) -> None:
        printed = PrintedOutput(
            self,
            self._output.pipe,
            log=plan.log,
            sees=None if app.sees is None else app.sees.log,
            ready=None if app.ready is None else app.ready.log,
            end=self.kill,
        )
        self.commands, self.events = printed.commands, printed.events
        printed.start()

    def _release(self) -> None:
        self._output.close()
        self.events.close()
