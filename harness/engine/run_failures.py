"""Why a run could not be completed, written into its history."""

import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from rocketchaos.assertions.mqadmin import failed_tool
from rocketchaos.harness.core.errors import (
    EnvironmentNotReady,
    NodeEnded,
    PreconditionNotMet,
    RocketchaosError,
    UsageProblem,
)
from rocketchaos.harness.core.events.run import RunEnded, RunTrouble, StepStarted
from rocketchaos.harness.core.events.servers import MqadminRan
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.engine.context import RunContext
from rocketchaos.harness.engine.health import Health
from rocketchaos.harness.engine.record import NodeLogs
from rocketchaos.harness.probes.moment import observe_moment

_TROUBLES: Mapping[type[RocketchaosError], Trouble] = {
    PreconditionNotMet: Trouble.PRECONDITION,
    UsageProblem: Trouble.USAGE,
    EnvironmentNotReady: Trouble.ENVIRONMENT,
    RocketchaosError: Trouble.HARNESS,
}


class Failures:
    """Of one run."""

    def __init__(self, history: History, health: Health, logs: Path) -> None:
        """`logs` is the folder for the traceback of a defect."""
        self._history = history
        self._health = health
        self._logs = logs
        self.context: RunContext | None = None
        """As soon as it is there, with the servers' logs."""
        self.node_logs: NodeLogs | None = None

    def note_failure(self, failure: BaseException) -> None:
        """Record why the run could not be completed. Anything that is not an `Exception` is an interruption.
        If a process has died, that is the cause, whatever showed it first.
        """
        shows_another = isinstance(failure, PreconditionNotMet | EnvironmentNotReady)
        # One that says that a server ended as it started names the way out.
        if shows_another and not isinstance(failure, NodeEnded) and self.context is not None:
            failure = self._health.deeper_cause() or self._out_of_memory() or failure
        if isinstance(failure, RocketchaosError):
            trouble = next(trouble for kind, trouble in _TROUBLES.items() if isinstance(failure, kind))
            precondition = trouble is Trouble.PRECONDITION
            cause = failure.cause or (self._last_step() if precondition else "")
            said = f"{failure.message}{self._failed_tool() if precondition else ''}"
            self.note(trouble, str(failure).replace(failure.message, said, 1), cause, failure.about)
            if precondition:
                self._observe_what_can_be()
        elif isinstance(failure, Exception):
            self.note(Trouble.HARNESS, f"{type(failure).__name__}: {failure}")
            text = "".join(traceback.format_exception(failure))
            with suppress(OSError):  # what happened is in the history, as far as that can be written
                (self._logs / "harness-traceback.txt").write_text(text, encoding="utf-8")
        else:
            self.note(Trouble.INTERRUPTED, f"interrupted: {str(failure) or 'Ctrl-C'}")

    def check_memory(self) -> None:
        """Make sure that no server ran out of memory: then missing answers say nothing about RocketMQ.

        Raises:
            EnvironmentNotReady: one did.
        """
        if (failure := self._out_of_memory()) is not None:
            raise failure

    def _out_of_memory(self) -> EnvironmentNotReady | None:
        if self.node_logs is None or (found := self.node_logs.out_of_memory()) is None:
            return None
        node, line = found
        return EnvironmentNotReady(
            f"the server {node} ran out of memory: {line}",
            "Its log is in the run folder, logs/.",
            about=(node,),
        )

    def note(self, trouble: Trouble, message: str, cause: str = "", about: tuple[str, ...] = ()) -> None:
        """Write down why the run could not be completed. A history that can't be written stays as it is.

        `cause` and `about` are those of the error.
        """
        body = RunTrouble(trouble=trouble, message=message, cause=cause, about=about)
        with suppress(EnvironmentNotReady):
            self._history.append("harness", body)

    def _last_step(self) -> str:
        """The word of the step that started last: it counts as the cause of a precondition that names none."""
        steps = (
            event.body for event in reversed(self._history.events) if isinstance(event.body, StepStarted)
        )
        return next((step.step for step in steps), "")

    def _failed_tool(self) -> str:
        """The last command of `mqadmin`, if it failed. The steps may wait for its effect."""
        ran = (event.body for event in reversed(self._history.events) if isinstance(event.body, MqadminRan))
        last = next(ran, None)
        said = None if last is None else failed_tool(last)
        return (
            "" if last is None or said is None else f"; before that mqadmin {last.command[0]} failed: {said}"
        )

    def _observe_what_can_be(self) -> None:
        """Observe the brokers after a condition was not reached: their state helps to find the reason."""
        if self.context is not None:
            with suppress(RocketchaosError):
                self._health.check()
                observe_moment(self.context, "end")
                self._history.append("harness", RunEnded())
