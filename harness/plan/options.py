"""What the user chose for a whole command."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind

if TYPE_CHECKING:
    from rocketchaos.harness.engine.hold import Hold
    from rocketchaos.harness.scenario.model import Scenario

DEFAULT_VERSION = "4.9.4"
SHARED_FOR_S = 1800.0
"""So long a shared cluster, or a shared process of clients, takes in new runs. What runs leave behind in brokers
and clients (topics, groups, buffers) would grow without end."""


def no_progress(_text: str) -> None:
    """Reports nothing."""


@dataclass(frozen=True, slots=True)
class Options:
    """For all runs of a command."""

    version: str = DEFAULT_VERSION
    """Of RocketMQ, where a job doesn't say it."""
    on: ClusterKind = ClusterKind.EMBEDDED
    """Where name server and brokers run."""
    dashboard: bool = False
    """Start the dashboard too, even if the scenario doesn't ask for it."""
    timing: str | None = None
    """Overrides the scenarios' own."""
    runs: Path = Path("runs")
    seed: int | None = None
    """None: a random one for each run, which is recorded."""
    keep: bool = False
    """The cluster stays up when the command ends."""
    shared_for_s: float = SHARED_FOR_S
    """How long what runs share takes in new ones; then it ends with the last of its runs, and there is another."""
    use_running: bool = True
    """Use a cluster that `rocketchaos up` started, where it fits."""
    progress: Callable[[str], None] = field(default=no_progress)
    hold: Hold | None = None
    """What holds a run open after its last step; None: nothing."""

    def timing_of(self, scenario: Scenario) -> str:
        """The timing profile under which a scenario runs."""
        return self.timing or scenario.timing

    def new_seed(self) -> int:
        """The chosen seed, or a random one."""
        return random.SystemRandom().randrange(1, 10**6) if self.seed is None else self.seed
