"""The users' programs of a run: the home of each, and the scenario's consumers in it."""

from __future__ import annotations

from pathlib import Path

from rocketchaos.assertions.check_command import CheckCommand
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.core.user_files import user_command
from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.engine.program_files import templates, write_files
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.language.consumer_spec import as_data
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.workers.app_home import AppHome, Expected, program_file
from rocketchaos.harness.workers.command_home import CommandHome, command_of
from rocketchaos.harness.workers.program import WorkerHome


class Programs:
    """Those of one scenario, each by the first consumer that is in it."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario

    def require(self) -> None:
        """Make sure that they are there.

        Raises:
            EnvironmentNotReady: one isn't.
        """
        for consumer in self._scenario.consumers.values():
            if consumer.app is None:
                continue
            if consumer.app.jar is None:
                command_of(consumer.app, self._scenario.file)
            else:
                program_file(consumer.app.jar, self._scenario.file)
            templates(consumer.app, self._scenario.file)
        for _, _, check in self._scenario.checks():
            if isinstance(check, CheckCommand):
                user_command(check.command, self._scenario.file)

    def home(self, leader: str, managed: ManagedCluster, names: Names, logs: Path) -> WorkerHome:
        """The home of the program whose first consumer is `leader`.

        Raises:
            EnvironmentNotReady: the cluster can't be reached from this host.
        """
        if managed.workers_of(self._scenario) == "containers":
            raise EnvironmentNotReady(
                f"the program of {leader} runs on this host, and can't reach brokers in containers from here",
                "Leave out `--on containers`.",
            )
        app, processes = self._app(leader), managed.processes
        nameserver = managed.ready()[0].nameserver
        files = logs / leader / "files"
        placed = app.placed(nameserver, str(files.absolute()))
        write_files(app, self._scenario.file, files, nameserver)
        if app.jar is None:
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
            program_file(app.jar, self._scenario.file),
            expected,
            processes.progress,
        )

    def _app(self, leader: str) -> App:
        app = self._scenario.consumers[leader].app
        if app is None:
            raise HarnessDefect(f"{leader} has no program")
        return app
