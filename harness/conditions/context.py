"""What a condition of `settle` needs of a run."""

from __future__ import annotations

from typing import Protocol

from rocketchaos.harness.probes.context import ProbeContext


class ConditionContext(ProbeContext, Protocol):
    """What its probes need, and whether there is any use in waiting on."""

    def check_alive(self) -> None:
        """Raise if anything died that should live, or if the run, or this branch of it, is to end.

        Raises:
            EnvironmentNotReady, HarnessDefect: a worker or a server died.
            KeyboardInterrupt: the run was interrupted.
            BranchEnded: this is a branch of a `parallel` of which another one failed.
        """
