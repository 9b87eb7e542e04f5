"""Events about the run itself: its steps, its moments, and what it waits for."""

from collections.abc import Mapping
from typing import ClassVar

from rocketchaos.harness.core.events.base import Body, Part


class RunStarted(Body, frozen=True, kw_only=True):
    """A run begins."""

    kind: ClassVar[str] = "run-started"
    node: ClassVar[str] = "harness"
    scenario: str = ""
    """Its name."""
    timing: str | None = None
    """The name of its timing profile."""
    rocketmq: str | None = None
    """The version on which it runs; older histories lack it."""
    client: str | None = None
    """The client with which it runs; older histories lack it."""


class RunEnded(Body, frozen=True, kw_only=True):
    """The run has recorded everything. A history without this event is cut off."""

    kind: ClassVar[str] = "run-ended"
    node: ClassVar[str] = "harness"


class TopicCreated(Body, frozen=True, kw_only=True):
    """A topic exists, and the name server has its route."""

    kind: ClassVar[str] = "topic-created"
    node: ClassVar[str] = "harness"
    topic: str
    real: str = ""
    """Its name at the brokers."""
    queues: int
    """Queues on each broker."""
    brokers: tuple[str, ...] | None = None
    """Older histories lack it."""
    settings: Mapping[str, int | bool | str] = {}
    """Settings of its own, by RocketMQ's own names."""


class Step(Body, frozen=True, kw_only=True):
    """What the beginning and the end of a step tell."""

    index: int
    """Which step of the scenario, counted from 0."""
    step: str
    """Its word, `kill`."""
    line: int | None
    """Its line in the scenario's file."""
    place: tuple[int, ...] = ()
    """Of a step inside another one: the index of that, and its own there."""
    iteration: int | None = None
    """Which iteration of a `repeat`, counted from 1."""

    @property
    def identity(self) -> tuple[object, ...]:
        """By which the end of a step is found to its beginning."""
        return self.index, self.place, self.iteration


class StepStarted(Step, frozen=True, kw_only=True):
    """A step begins."""

    kind: ClassVar[str] = "step-started"
    node: ClassVar[str] = "harness"


class StepEnded(Step, frozen=True, kw_only=True):
    """A step has ended."""

    kind: ClassVar[str] = "step-ended"
    node: ClassVar[str] = "harness"


class Settled(Body, frozen=True, kw_only=True):
    """A condition of `settle` is reached."""

    kind: ClassVar[str] = "settled"
    node: ClassVar[str] = "harness"
    condition: str
    """In words."""
    condition_id: str = ""
    """Its key: `ownership`; empty in older folders."""
    subject: str = ""
    """Whom it asks about: a group, a consumer, a topic or a node; empty in older folders."""
    took_ms: float
    """Milliseconds since the step began."""
    looks: int
    """The number of looks."""
    seen: str
    """What the last look saw."""


class WaitedFor(Part, frozen=True, kw_only=True):
    """A check for which the run waited."""

    check: str
    why: str


class Waited(Body, frozen=True, kw_only=True, rename={"checks": "for"}):
    """The end of the run was postponed, because some checks only lacked time."""

    kind: ClassVar[str] = "waited"
    node: ClassVar[str] = "harness"
    took_ms: float
    """Milliseconds."""
    checks: tuple[WaitedFor, ...]


class Bound(Body, frozen=True, kw_only=True):
    """A variable stands for these consumers from here on."""

    kind: ClassVar[str] = "bound"
    node: ClassVar[str] = "harness"
    variable: str
    """Without its `$`."""
    consumers: tuple[str, ...]


class MomentObserved(Body, frozen=True, kw_only=True):
    """An observation is complete: all its answers, with this `moment` in their data, come before this event."""

    kind: ClassVar[str] = "moment-observed"
    node: ClassVar[str] = "harness"
    moment: str
    name: str | None = None
    """In a `repeat`, and for a postponed end: the name without the iteration; the last one has it too."""
    iteration: int | None = None
    """Which one, counted from 1."""


class ProbeFailed(Body, frozen=True, kw_only=True):
    """A question got no answer; checks that need it are `unknown`."""

    kind: ClassVar[str] = "probe-failed"
    node: ClassVar[str] = "harness"
    probe: str
    """What was asked for."""
    group: str | None = None
    topic: str | None = None
    consumer: str | None = None
    key: str | None = None
    """The message that the request was about."""
    error: str


class RunTrouble(Body, frozen=True, kw_only=True):
    """Why the run could not be completed."""

    kind: ClassVar[str] = "trouble"
    node: ClassVar[str] = "harness"
    trouble: str
    """A value of `Trouble`."""
    cause: str = ""
    """An id by which equal causes are counted; empty if there is only the message."""
    about: tuple[str, ...] = ()
    """The clients and servers whose logs say more; older histories lack it."""
    message: str
