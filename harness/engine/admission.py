"""The number of parallel runs: the user's, or by default as many as the machine can take."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rocketchaos.harness.core.machine_load import CpuMeter, available_memory_mib, usable_cores
from rocketchaos.harness.engine.placement import own_processes
from rocketchaos.harness.scenario.model import Scenario

RUNS_PER_CORE = 4
BUSY_LIMIT = 0.9
"""No further run begins while a larger share of the cores is busy."""
IDLE_SHARE = 0.7
IDLE_FACTOR = 4
"""While a smaller share of the cores is busy, four times the weight may be under way: heavy runs often wait."""
FREE_MEMORY_MIB = 2048
"""With less available memory, no run begins beyond the usual weight."""
_OF_NEW = 0.2
"""The part of a new measurement in the average that says whether cores are idle."""
LOOK_EVERY_S = 0.1
OVERTAKEN_FOR_S = 60.0
"""The time for which lighter runs may overtake a first one that is too heavy, from when it is the first. Without a
limit it might never begin."""

OWN_CLUSTER_WEIGHT = 2.0
"""The weight of its own workers. Each node counts 1 more: with its own cluster of one broker a run weighs 4."""
OWN_PROCESS_WEIGHT = 0.5
"""Added for each consumer with a JVM of its own."""
FAITHFUL_SHARE = 0.25
"""RocketMQ's own timers make a run that mostly waits."""


def weight_of(scenario: Scenario, timing: str) -> float:
    """The cost of a run. A run with shared processes on a shared cluster in compressed timing costs 1."""
    weight = OWN_CLUSTER_WEIGHT + len(scenario.cluster.nodes) if scenario.needs_own_cluster else 1.0
    # In containers nobody shares a process, the producer included.
    in_containers = scenario.workers == "containers"
    own = len(scenario.consumers) + 1 if in_containers else len(own_processes(scenario))
    weight += OWN_PROCESS_WEIGHT * own
    return weight * (FAITHFUL_SHARE if timing == "faithful" else 1.0)


@dataclass(frozen=True, slots=True)
class Slot:
    """The permission for a run to go on, and the reason."""

    chosen: int | None
    """The user's `--parallel`; None: by cores and load."""
    limit: float
    """The limit of weight at a time."""
    weight: float
    beside: int
    """Runs that were under way when this one began."""
    waited_s: float

    def as_json(self) -> dict[str, Any]:
        """As `run.json` has it."""
        return {
            "chosen": self.chosen,
            "limit": self.limit,
            "weight": self.weight,
            "beside": self.beside,
            "waited_s": round(self.waited_s, 3),
        }


@dataclass(slots=True, eq=False)
class _Asking:
    """A run that waits for its slot."""

    weight: float
    since: float
    first_since: float | None = None
    """When it was first in the order; None: others were before it."""


class Admission:
    """Lets runs begin in the order in which they ask.

    Where the user chose a number, that many go on at once. Otherwise their weights add up to four times the cores
    at most, or to four times that while most cores are idle and memory is free. After the first, a run begins only
    while cores are idle. While the first one is too heavy for what is left, lighter ones begin before it, for a
    while.
    """

    def __init__(
        self,
        chosen: int | None,
        *,
        cores: int | None = None,
        busy: Callable[[], float | None] | None = None,
        memory_mib: Callable[[], float] = available_memory_mib,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            chosen: how many at once; None: by cores and load.
            cores: how many to count with; default those of this machine.
            busy: the share of busy cores since the last question, None if that is too short a time.
            memory_mib: the available memory.
            clock: in seconds.
        """
        self._chosen = chosen
        self._limit = float(chosen or RUNS_PER_CORE * (cores or usable_cores()))
        self._busy = busy or CpuMeter().busy
        self._memory_mib = memory_mib
        self._changed = threading.Condition()
        self._clock = clock
        self._waiting: deque[_Asking] = deque()
        self._under_way = 0
        self._weight = 0.0
        self._average = 1.0
        """A moving average of the share of busy cores; 1 when a run begins."""

    @property
    def most(self) -> int:
        """The most runs at a time, if all are of the lightest kind."""
        return int(self._limit / (1.0 if self._chosen else FAITHFUL_SHARE))

    @contextmanager
    def slot(self, weight: float, interrupted: threading.Event) -> Iterator[Slot]:
        """Wait until a run of this weight may begin. It counts as under way for the block.

        Raises:
            KeyboardInterrupt: all runs are to end; this one has not started.
        """
        weight = 1.0 if self._chosen else min(weight, self._limit)
        asking = _Asking(weight, self._clock())
        with self._changed:
            self._waiting.append(asking)
            try:
                while not self._may_begin(asking):
                    self._changed.wait(LOOK_EVERY_S)
                    if interrupted.is_set():
                        raise KeyboardInterrupt
            finally:
                self._waiting.remove(asking)
                self._changed.notify_all()
            waited_s = self._clock() - asking.since
            slot = Slot(self._chosen, self._limit, weight, self._under_way, waited_s)
            self._under_way += 1
            self._weight += weight
            self._average = 1.0
        try:
            yield slot
        finally:
            with self._changed:
                self._under_way -= 1
                self._weight -= weight
                self._changed.notify_all()

    def _may_begin(self, asking: _Asking) -> bool:
        if self._under_way == 0:
            self._busy()  # what is measured next begins with this run
            return self._waiting[0] is asking
        usual = self._next(self._limit)
        if self._chosen:
            return usual is asking
        if asking not in (usual, self._next(IDLE_FACTOR * self._limit)):
            return False
        busy = self._busy()
        if busy is None:
            return False
        self._average += _OF_NEW * (busy - self._average)
        if asking is usual:
            return busy < BUSY_LIMIT
        return self._average < IDLE_SHARE and self._memory_mib() >= FREE_MEMORY_MIB

    def _next(self, limit: float) -> _Asking | None:
        """The first run, or the first one that fits in with the runs under way; None: nothing may begin."""
        first = self._waiting[0]
        if first.first_since is None:
            first.first_since = self._clock()
        if self._weight + first.weight <= limit:
            return first
        if self._clock() - first.first_since > OVERTAKEN_FOR_S:
            return None
        return next((item for item in self._waiting if self._weight + item.weight <= limit), None)
