"""Any program of the user's as a process of this host: seen by what it prints, and otherwise left alone."""

from __future__ import annotations

import os
import secrets
import subprocess
from dataclasses import dataclass

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.user_files import folder_of, user_command
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.reaper.reaper import OWNER_VARIABLE
from rocketchaos.harness.workers.app_home import MARK, AppProgram
from rocketchaos.harness.workers.printed_output import PrintedOutput
from rocketchaos.harness.workers.program import WorkerPlan

AT_ONCE = {"PYTHONUNBUFFERED": "1"}
"""A program of Python's tells its lines at once, as in most images."""


def command_of(app: App, scenario_file: str) -> tuple[str, ...]:
    """The command of a program, see `user_command`."""
    return user_command(app.command or ("",), scenario_file, app.env.get("PATH"))


@dataclass(frozen=True, slots=True)
class CommandHome:
    """The home of one user's program; see `WorkerHome`."""

    owner: str
    """The label for the clean-up."""
    app: App
    """With addresses for its placeholders."""
    scenario_file: str
    """In its folder the program runs."""

    def launch(self, plan: WorkerPlan) -> CommandProgram:
        """See `WorkerHome.launch`."""
        app = self.app
        mark = secrets.token_hex(16)
        try:
            process = subprocess.Popen(
                command_of(app, self.scenario_file),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=folder_of(self.scenario_file),
                env={**os.environ, **AT_ONCE, **app.env, OWNER_VARIABLE: self.owner, MARK: mark},
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            raise EnvironmentNotReady(f"the program of {plan.name} can't be started: {error}") from error
        return CommandProgram(plan, process, app, mark)


class CommandProgram(AppProgram):
    """A program whose output is read here, by a thread that answers for it."""

    def __init__(self, plan: WorkerPlan, process: subprocess.Popen[bytes], app: App, mark: str) -> None:
        assert process.stdout is not None
        printed = PrintedOutput(
            process,
            process.stdout,
            log=plan.log,
            sees=None if app.sees is None else app.sees.log,
            ready=None if app.ready is None else app.ready.log,
            end=self.kill,
        )
        super().__init__(plan.name, process, printed.events, printed.commands)
        self.mark = mark
        printed.start()
