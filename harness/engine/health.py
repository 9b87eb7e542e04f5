"""The processes of a run that died but should live, and whether somebody wants the run to end."""

import contextlib
import threading
from collections.abc import Collection

from rocketchaos.harness.cluster.base import Cluster
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect, RocketchaosError
from rocketchaos.harness.core.events.clients import WorkerDied
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.core.model import Trouble

DEATH_SHOWS_WITHIN_S = 0.5


class Health:
    """Of the run's workers and servers."""

    def __init__(
        self, history: History, interrupted: threading.Event, programs: Collection[str] = frozenset()
    ) -> None:
        """`programs` are the consumers that are programs of the user's."""
        self._history = history
        self._programs = programs
        self.interrupted = interrupted
        """Set where the user wants the run to end."""
        self.cluster: Cluster | None = None
        """As soon as it is there."""
        self._troubles: list[RocketchaosError] = []

    def note(self, trouble: RocketchaosError) -> None:
        """The run can't go on: the next `check` raises this. Called from readers' threads too."""
        self._troubles.append(trouble)

    def worker_died(self, name: str, reason: str, trouble: Trouble) -> None:
        """A worker ended unexpectedly. Called from its reader's thread."""
        kind: type[RocketchaosError] = HarnessDefect if trouble is Trouble.HARNESS else EnvironmentNotReady
        what = f"the program of {name} has ended" if name in self._programs else f"the worker {name} died"
        way_out = "Its log is in the run folder, logs/."
        if name in self._programs and reason.startswith("exit code 0"):
            way_out = f"It must run in the foreground until SIGTERM, and not as a daemon. {way_out}"
        self.note(kind(f"{what}: {reason}", way_out, about=(name,)))
        with contextlib.suppress(RocketchaosError):  # the history may be what failed
            self._history.append(name, WorkerDied(reason=reason))

    def check(self) -> None:
        """Raise if anything died that should live, or if the user wants the run to end.

        Raises:
            EnvironmentNotReady, HarnessDefect: a worker or a server died.
            KeyboardInterrupt: the run was interrupted.
        """
        if self.interrupted.is_set():
            raise KeyboardInterrupt
        if self._troubles:
            raise self._troubles[0]
        for death in () if self.cluster is None else self.cluster.deaths():
            raise EnvironmentNotReady(
                f"the server {death.node} died: {death.reason}",
                "Its log is in the run folder, logs/.",
                about=(death.node,),
            )

    def deeper_cause(self) -> RocketchaosError | None:
        """The death that may have caused a failure; None if everything lives. A connection breaks a moment before
        its process is seen to be dead.
        """

        def death() -> RocketchaosError | None:
            try:
                self.check()
            except RocketchaosError as failure:
                return failure
            except KeyboardInterrupt:
                pass
            return None

        return look_until(death, lambda failure: failure is not None, DEATH_SHOWS_WITHIN_S, 0.02)
