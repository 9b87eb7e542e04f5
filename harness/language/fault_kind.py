"""The description of a fault, for all code that does not need the fault itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

CONSUMER, PRODUCER, BROKER, NAME_SERVER = "consumer", "producer", "broker", "nameserver"
DISK, NETWORK = "disk", "network"
"""The kinds of targets of faults, as tables and nights separate them."""


class Process(StrEnum):
    """The state of the process after the fault."""

    KILLED = "killed"
    """It is gone at once, without a farewell."""
    LEFT = "left"
    """It is gone, in good order."""
    STANDS = "stands still"
    RUNS = "runs"
    """The same process, or a new one; slower perhaps."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """An operation of a night that does the fault, and ends it."""

    name: str
    """`kill-broker`."""
    of: str
    """`CONSUMER`, `PRODUCER`, `BROKER`, `NAME_SERVER` or `DISK`."""
    meaning: str
    happens: str
    """The words of a scenario's title about the target: `is killed`."""
    back: str = ""
    """The step that ends it; empty: the member starts again, where chance has it."""
    weight: float = 2.0
    """How often it is drawn in proportion to the others; 0: only where a profile names it."""
    lasts_ms: tuple[int, int] | None = None
    """How long at least and at most; None: at once, or as a member stays away."""
    because: str = "how long it is away"
    own_process: bool = True
    """Whether the member must have a process of its own."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A row of the table of faults."""

    what: str
    of: str
    step: str
    """In YAML, of a scenario with consumers a and b."""
    drawn: tuple[str, ...] = ()
    """The operations of a night that do it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultKind:
    """A fault whose step has a file of its own in `harness.steps`."""

    word: str
    """That of the step, of the file in `harness.faults`, and of the events."""
    process: Process = Process.RUNS
    undone_by: tuple[str, ...] = ()
    """The steps that undo it."""
    active_before_announced: bool = False
    """Whether a group may change from the beginning of the step on, before the history shows a fault."""
    shown: tuple[Shown, ...] = ()
    drawn: tuple[Drawn, ...] = ()


@dataclass(frozen=True, slots=True)
class Ending:
    """The step that ends faults of processes."""

    word: str
    title: str
    doc: str
    example: str
    targets: str
    """The field's description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFaultKind(FaultKind):
    """A fault of clients' or nodes' processes: its step is made from this."""

    doc: str
    """The step's description, for the reference."""
    example: str
    targets: str
    """The description of the field `targets`."""
    before: tuple[str, ...]
    """The states in which a target must be, see `harness.steps.base.STATES`."""
    after: str
    """The state in which it is then."""
    capability: str | None = None
    """The ability that a cluster needs if a target is a node; None: no node can be a target."""
    instead: str = ""
    """The message for a scenario that names a node, with `{target}`."""
    of_producer: bool = True
    on_processes_of_this_host: bool = False
    """Whether it can't be done to clients in containers."""
    acts_on_process: bool = True
    """Whether a consumer needs a process of its own."""
    consumers_tell: bool = False
    """Whether the history has a consumer's own events of it, and no fault."""
    ending: Ending | None = None
    takes_s: float | None = None
    """How long the step takes on an idle machine; None: as long as any other for each target."""
    options: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """Further fields of the step, as pydantic has them; the fault's constructor gets them."""
