"""The users' programs of a run: the home of each, and the scenario's consumers in it."""

from collections.abc import Mapping
from pathlib import Path

from rocketchaos.assertions.check_command import CheckCommand
from rocketchaos.harness.cluster.base import Networked
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.core.user_files import user_command, user_file
from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.jars.artifacts import Progress
from rocketchaos.harness.language.app_spec import FILES, FILES_INSIDE, NAMESERVER, PROXY, App, Places, fill
from rocketchaos.harness.language.expressions import as_data
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.workers.app_home import AppHome, Expected, java_program
from rocketchaos.harness.workers.command_home import CommandHome, command_of
from rocketchaos.harness.workers.program import WorkerHome


def templates(app: App, scenario_file: str) -> Mapping[str, str]:
    """The templates' texts, by the names of their files.

    Raises:
        EnvironmentNotReady: one isn't there, or is no text.
    """
    found = {}
    for name, template in app.files.items():
        file = user_file(
            template, scenario_file, f"the template of {name}", "Correct `files` in the scenario."
        )
        try:
            found[name] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise EnvironmentNotReady(f"the template of {name} can't be read: {file}: {error}") from error
    return found


def write_files(app: App, scenario_file: str, folder: Path, places: Places) -> None:
    """Make the files in a folder of this host.

    Raises:
        EnvironmentNotReady: a template isn't there or wants a proxy where there is none, or a file can't be
            written.
    """
    for name, text in templates(app, scenario_file).items():
        if PROXY in text and PROXY not in places:
            raise EnvironmentNotReady(
                f"the template of {name} has `{PROXY}`, and the cluster has no proxy",
                "Write `cluster: {proxy: local}` into the scenario, and run it on RocketMQ 5.",
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(fill(text, places), encoding="utf-8")
        except OSError as error:
            raise EnvironmentNotReady(f"the program's file {name} can't be written: {error}") from error


class Programs:
    """Those of one scenario, each by the first consumer that is in it."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario

    def require(self, progress: Progress) -> None:
        """Check that all programs are present. `progress` gets a short text for each slow part.

        Raises:
            EnvironmentNotReady: one isn't.
        """
        for consumer in self._scenario.consumers.values():
            if consumer.app is None:
                continue
            if consumer.app.has_hook:
                java_program(consumer.app, self._scenario.file)
            elif consumer.app.image is not None:
                _require_image(consumer.app.image, progress)
            else:
                command_of(consumer.app, self._scenario.file)
            templates(consumer.app, self._scenario.file)
        for _, _, check in self._scenario.checks():
            if isinstance(check, CheckCommand):
                user_command(check.command, self._scenario.file)

    def home(self, leader: str, managed: ManagedCluster, names: Names, logs: Path) -> WorkerHome:
        """The home of the program whose first consumer is `leader`.

        Raises:
            EnvironmentNotReady: the cluster can't be reached from this host.
        """
        app, processes = self._app(leader), managed.processes
        if app.image is None and managed.workers_of(self._scenario) == "containers":
            raise EnvironmentNotReady(
                f"the program of {leader} runs on this host, and can't reach brokers in containers from here",
                "Leave out `--on containers`.",
            )
        cluster = managed.ready()[0]
        files = logs / leader / "files"
        seen_as = str(files.absolute()) if app.image is None else FILES_INSIDE
        places = {NAMESERVER: cluster.nameserver, FILES: seen_as}
        if cluster.proxy is not None:
            places[PROXY] = cluster.proxy.grpc_endpoint
        placed = app.placed(places)
        write_files(app, self._scenario.file, files, places)
        if app.image is not None:
            return _image_home(managed, placed, files)
        if not app.has_hook:
            return CommandHome(processes.reaper.owner, placed, self._scenario.file)
        expected = [
            Expected(
                name,
                names.real(spec.group),
                {names.real(topic): as_data(expression) for topic, expression in spec.subscribe.items()},
            )
            for name, spec in self._scenario.consumers.items()
            if self._scenario.leaders.get(name, name) == leader
        ]
        return AppHome(
            processes.reaper.owner,
            processes.java,
            placed,
            self._scenario.file,
            expected,
            processes.progress,
        )

    def _app(self, leader: str) -> App:
        app = self._scenario.consumers[leader].app
        if app is None:
            raise HarnessDefect(f"{leader} has no program")
        return app


def _require_image(name: str, progress: Progress) -> None:
    # What speaks to a container engine takes a while to load.
    from rocketchaos.harness.containers.container_engine import connect
    from rocketchaos.harness.containers.images import users_image

    users_image(connect(), name, progress)


def _image_home(managed: ManagedCluster, app: App, files: Path) -> WorkerHome:
    from rocketchaos.harness.workers.image_home import ImageHome

    cluster = managed.ready()[0]
    if not isinstance(cluster, Networked):
        raise HarnessDefect(f"a cluster of kind {cluster.kind} has no network for containers")
    return ImageHome(cluster.place(), app, files, managed.processes.progress)
