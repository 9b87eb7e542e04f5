"""A broker whose disk is full: it refuses messages, and goes on handing out those that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Fillable
from rocketchaos.harness.core.errors import HarnessDefect, PreconditionNotMet
from rocketchaos.harness.core.looking import look_until
from rocketchaos.harness.faults.base import Fault

if TYPE_CHECKING:
    from rocketchaos.harness.faults.context import FaultContext

_SAYS = "so mark disk full"
"""`CleanCommitLogService.isSpaceFull`, 4.9.3 to 4.9.7: once, when it first finds the disk full."""
_LIMIT_S = 30.0
"""It looks at the disk a second after its start, and then every 10 s."""
_LOOK_EVERY_S = 0.1


class FillDisk(Fault):
    """The broker restarts with a limit that any disk exceeds; until it heals, also after a restart."""

    name = "fill-disk"

    def __init__(self, context: FaultContext, broker: str) -> None:
        if not isinstance(context.servers.cluster, Fillable):
            raise HarnessDefect(f"disks of a cluster of kind {context.servers.cluster.kind} can't be filled")
        self._context, self._cluster = context, context.servers.cluster
        self.target = broker
        self._logged = 0

    def inject(self) -> None:
        """Restart it; earlier lines of its log say nothing."""
        self._logged = self._context.servers.node(self.target).log.stat().st_size
        self._context.servers.note_down(self.target, "restarting")
        self._cluster.fill_disk(self.target)
        self._is_back()

    def wait_effective(self) -> str:
        """The broker logs that it marks its disk full; from then on it refuses messages."""
        line = look_until(self._in_words, lambda line: line is not None, _LIMIT_S, _LOOK_EVERY_S)
        if line is None:
            raise PreconditionNotMet(
                f"{self.name}: {self.target} didn't take its disk for full within {_LIMIT_S:.0f} s; "
                f"its log, {self._context.servers.node(self.target).log}, doesn't say `{_SAYS}`"
            )
        return f"{self.target} logs: {line}"

    def heal(self) -> None:
        """Restart it as it was at first."""
        self._context.servers.note_down(self.target, "restarting")
        self._cluster.free_disk(self.target)
        self._is_back()

    def wait_healed(self) -> str:
        """A broker that has just been started takes messages until it finds its disk full."""
        process = self._context.servers.node(self.target).process
        return f"{self.target} is ready as {process}, with a disk that isn't full"

    def _is_back(self) -> None:
        self._context.servers.note_up(self.target)
        self._context.servers.record(self._context.servers.node(self.target))

    def _in_words(self) -> str | None:
        """The line of its log about a full disk since the start; None: none yet."""
        with self._context.servers.node(self.target).log.open("rb") as log:
            log.seek(self._logged)
            lines = log.read().decode("utf-8", errors="replace").splitlines()
        return next((line.strip() for line in lines if _SAYS in line), None)
