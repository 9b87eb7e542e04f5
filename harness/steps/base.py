"""The base class of all steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar

from rocketchaos.harness.language.words import Word

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


STATES = frozenset({"new", "running", "paused", "stalled", "stopped", "killed"})
"""Those of a consumer, a node or the producer; see `Step.moves`."""


class Step(Word, ABC):
    """One thing that a scenario does.

    `moves` says which state a consumer must be in before the step and is in after it, for steps that act on
    consumers: a scenario whose steps can't happen in their order is refused before anything starts. They are
    `STATES`; None: it stays in its state.
    """

    moves: ClassVar[tuple[tuple[str, ...], str | None] | None] = None
    node_moves: ClassVar[tuple[tuple[str, ...], str | None] | None] = None
    """The same for nodes of the cluster, where it differs from that for consumers."""
    acts_on_process: ClassVar[bool] = True
    """Whether the step needs the processes of those it acts on (`kill`); False: their clients alone (`stop`)."""

    rocketmq: ClassVar[str] = ""
    """The versions of RocketMQ on which it can be done, as a range; empty: all."""

    resubscribes: ClassVar[bool] = False
    """Whether it makes running consumers change theirs, which not every client can."""

    nested: ClassVar[str | None] = None
    """The field that holds steps of its own, where there is one."""
    concurrent: ClassVar[bool] = False
    """Whether that field is a list of lists, which are done at the same time."""

    def acts_on(self) -> tuple[str, ...]:
        """The consumers, or variables, whose state the step changes by `moves`."""
        return ()

    def field_of(self, index: int) -> tuple[str | int, ...]:
        """Where in the step one of those stands, by its number among them."""
        return str(self.shorthand), index

    def defines(self) -> tuple[tuple[str, str], ...]:
        """The names that it defines, other than variables, each with its kind: `hand-made` clients, `pull`s."""
        return ()

    def sends(self, scenario: Scenario) -> Iterator[tuple[str, str | None, int]]:
        """The messages that it sends itself, each time: topic, tag as it is written, how many."""
        del scenario  # most steps send nothing
        yield from ()

    def creates_on(self, broker: str, scenario: Scenario) -> tuple[str, ...]:
        """The topics that it creates on a broker, in addition to those that the scenario declares there."""
        del broker, scenario  # most steps create none
        return ()

    @property
    def sends_unseen(self) -> bool:
        """Whether it may put messages into topics that `sends` doesn't tell."""
        return False

    @property
    def rounds(self) -> int:
        """How often the steps inside it are done."""
        return 1

    def inner(self) -> tuple[tuple[Step, ...], ...]:
        """The steps inside it, where it has any: one list, or those that are done at the same time."""
        return ()

    @property
    def chooses_queues(self) -> bool:
        """Whether it has the producer send to queues that it names."""
        return False

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        """Its acts on nodes, by the names of `harness.cluster.base.CAPABILITIES`. No other run shares these
        nodes."""
        del scenario  # most steps do nothing to nodes
        yield from ()

    def releases(self) -> tuple[str, ...]:
        """The releases, or builds by name, of RocketMQ that its servers need in addition to the run's own."""
        return ()

    def binds(self) -> tuple[str, ...]:
        """The variables that are defined from here on, without `$`."""
        return ()

    def beyond(self, scenario: Scenario) -> Iterator[tuple[str, str]]:
        """The consumers whose clients can't do, or don't tell, what the step asks of them, and what that is."""
        for name in self.acts_on() if self.resubscribes else ():
            consumer = scenario.consumers.get(name)
            if consumer is not None and not consumer.traits.resubscribes:
                yield name, f"{consumer.choice.kind.title} can't `{self.word}` while it runs"

    def problems(self, scenario: Scenario) -> Iterator[str]:
        """What is wrong with the step in this scenario, beyond names and order; one sentence each."""
        del scenario  # most steps have nothing to say
        yield from ()

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        """The numbers that no run of this scenario can come to; one sentence each."""
        del scenario  # most steps state no number
        yield from ()

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        """What is possible in this scenario, and hardly meant; one sentence each."""
        del scenario  # most steps have nothing to say
        yield from ()

    @abstractmethod
    def run(self, context: StepContext) -> None:
        """Do it, and record in the history what was done.

        Raises:
            PreconditionNotMet: a condition was not reached within its limit, or a fault took no effect.
            EnvironmentNotReady: a worker or a server failed.
        """


def with_rounds(steps: Iterable[Step], rounds: int = 1) -> Iterator[tuple[Step, int]]:
    """The steps as `every_step` has them, each with how often it is done in a run."""
    for step in steps:
        yield step, rounds
        for branch in step.inner():
            yield from with_rounds(branch, rounds * step.rounds)


def every_step(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps in their order, those inside others after what they are in."""
    for step in steps:
        yield step
        for branch in step.inner():
            yield from every_step(branch)
