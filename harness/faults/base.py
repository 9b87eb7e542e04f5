"""The life of a fault: inject, wait until it is effective, heal, wait until it is healed, clean up.

After the failure injection of CockroachDB's roachtest: a state machine around the fault allows only the legal
order, so that a fault can't heal unproven or be forgotten.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from rocketchaos.harness.core.errors import HarnessDefect, RocketchaosError
from rocketchaos.harness.core.events.servers import FaultEffective, FaultHealed, FaultInjected

if TYPE_CHECKING:
    from rocketchaos.harness.core.history import History


class Fault(ABC):
    """Something bad that is done to one target. Healing is idempotent."""

    name: str
    """`kill`, `pause`."""
    target: str
    """A consumer's or a node's name; of a fault between two ends both, `b and broker-a` or `b to broker-a`."""
    sides: tuple[str, ...] = ()
    """The ends of one between two: consumers, nodes, `producer`."""
    heals: ClassVar[bool] = True
    """False if there is nothing to undo: such a fault is over once it is effective."""

    @property
    def is_past(self) -> bool:
        """Whether it has ended without having been healed, as with the process that it was done to."""
        return False

    @abstractmethod
    def inject(self) -> None:
        """Do it."""

    @abstractmethod
    def wait_effective(self) -> str:
        """Wait until it has taken effect; the proof in words.

        Raises:
            PreconditionNotMet: it took no effect within its limit.
        """

    @abstractmethod
    def heal(self) -> None:
        """Undo it, as far as it can be undone. Idempotent."""

    @abstractmethod
    def wait_healed(self) -> str:
        """Wait until it is undone; the proof in words."""

    def cleanup(self) -> None:
        """Remove what the fault needed. Idempotent."""
        return


class Faults:
    """The faults of a run, each with a name like `pause b`; writes their life into the history."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._active: dict[str, Fault] = {}

    def inject(self, fault: Fault) -> None:
        """Inject, and wait for the proof of effect."""
        key = f"{fault.name} {fault.target}"
        if key in self._active and self._active[key].is_past:
            self.heal(key)
        if key in self._active:
            raise HarnessDefect(f"the fault `{key}` is active already")
        where = _where(fault)
        self._history.append("harness", FaultInjected(**where))
        if fault.heals:
            self._active[key] = fault
        with _about(fault):
            fault.inject()
            proof = fault.wait_effective()
        self._history.append("harness", FaultEffective(**where, proof=proof))

    def heal(self, key: str) -> None:
        """Heal one fault; nothing happens if it isn't active."""
        fault = self._active.pop(key, None)
        if fault is None:
            return
        try:
            with _about(fault):
                fault.heal()
                proof = fault.wait_healed()
            self._history.append("harness", FaultHealed(**_where(fault), proof=proof))
        finally:
            fault.cleanup()

    def active(self) -> dict[str, Fault]:
        """Those that have been injected and not healed, by texts such as `kill b`."""
        return dict(self._active)

    def heal_all(self) -> None:
        """Heal whatever is still active, the last one first, each also where another one can't be healed.

        Raises:
            RocketchaosError: the failure of the first one that can't be healed.
        """
        failures: list[RocketchaosError] = []
        for key in reversed(list(self._active)):
            try:
                self.heal(key)
            except RocketchaosError as failure:
                failures.append(failure)
        if failures:
            raise failures[0]


@contextmanager
def _about(fault: Fault) -> Iterator[None]:
    """Failures then concern the targets."""
    try:
        yield
    except RocketchaosError as failure:
        failure.about = failure.about or tuple(fault.sides) or (fault.target,)
        raise


def _where(fault: Fault) -> dict[str, Any]:
    return {"fault": fault.name, "target": fault.target, "sides": tuple(fault.sides)}
