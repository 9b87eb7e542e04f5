"""`kill`, `pause`, `resume`: steps on processes, each made from its registration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, create_model

from rocketchaos.harness.language.fault_kind import Ending, ProcessFaultKind
from rocketchaos.harness.language.fault_registry import ENDINGS, MAY_BE_REFUSED, PROCESS_FAULTS
from rocketchaos.harness.language.words import ActorRefs, ProcessRefs
from rocketchaos.harness.steps.base import Step, every_step
from rocketchaos.harness.steps.start import Start

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

WORDS = tuple(
    dict.fromkeys(
        word
        for kind in PROCESS_FAULTS.values()
        for word in (kind.word, *(() if kind.ending is None else (kind.ending.word,)))
    )
)
"""Each fault, and the step that ends it."""


class ProcessStep(Step):
    """Something is done to the processes of clients or of nodes."""

    shorthand = "targets"
    kinds: ClassVar[tuple[ProcessFaultKind, ...]]
    """The faults that it makes, or ends."""

    targets: ActorRefs

    def acts_on(self) -> tuple[str, ...]:
        return self.targets

    def problems(self, scenario: Scenario) -> Iterator[str]:
        starts = (step for step in every_step(scenario.steps) if isinstance(step, Start))
        may_lack = {name for start in starts if start.may_be_refused for name in start.consumers}
        may_lack |= {name for name, producer in scenario.senders.items() if producer.may_be_refused}
        leaders = {name: leader for name, leader in scenario.leaders.items() if name not in may_lack}
        for leader in dict.fromkeys(leaders[target] for target in self.targets if target in leaders):
            living = [name for name, first in leaders.items() if first == leader]
            # What shuts a consumer down ends a user's program.
            first = scenario.consumers.get(leader)
            whole = self.acts_on_process or (first is not None and first.choice.kind.users_program)
            if whole and not set(living) <= {*self.targets}:
                text = ", ".join(living)
                yield f"{text} live in one process: name them all, `{self.word}: [{text}]`"

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        # What ends several faults needs no more than the first of them.
        capability = self.kinds[0].capability
        if capability is not None:
            yield from (capability for target in self.targets if target in scenario.cluster.nodes)


class FaultStep(ProcessStep):
    """A fault of processes."""

    @property
    def kind(self) -> ProcessFaultKind:
        """Its act."""
        return self.kinds[0]

    def problems(self, scenario: Scenario) -> Iterator[str]:
        yield from super().problems(scenario)
        kind = self.kind
        if getattr(self, MAY_BE_REFUSED, False) and not {*self.targets} & {*scenario.cluster.nodes}:
            yield (
                f"`{MAY_BE_REFUSED}` of `{self.word}` is for servers: a consumer has it at its `start`, "
                "a producer where it is declared"
            )
        for target in self.targets:
            is_node = target in scenario.cluster.nodes
            if is_node and kind.capability is None:
                yield kind.instead.format(target=target)
            if not is_node and kind.on_processes_of_this_host and scenario.in_container(target):
                way_out = "pause it" if scenario.is_image(target) else "leave `workers: containers` out"
                yield (
                    f"{target} would be in a container, whose processes can't be stalled from here: {way_out}"
                )

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.faults.process import consumer_action, fault_class

        kind = self.kind
        options = {name: getattr(self, name) for name in kind.options}
        for name in context.variables.resolve(self.targets):
            of_node = kind.capability is not None and context.servers.is_node(name)
            if kind.consumers_tell and not of_node and name in context.consumers:
                consumer_action(kind.word)(context.consumers[name])
            else:
                if of_node and options.get(MAY_BE_REFUSED) and name not in context.servers.down:
                    # The history has it as away from here on, however its start ends.
                    context.faults.inject(fault_class("stop", of_node=True)(context, name))
                context.faults.inject(fault_class(kind.word, of_node=of_node)(context, name, **options))


class EndingStep(ProcessStep):
    """Ends faults of processes."""

    def run(self, context: StepContext) -> None:
        for name in context.variables.resolve(self.targets):
            for kind in self.kinds:
                context.faults.heal(f"{kind.word} {name}")


def made(word: str) -> type[Step]:
    """The step of this word: a model of its own, as those that have a file."""
    if word in PROCESS_FAULTS:
        kind = PROCESS_FAULTS[word]
        return _model(FaultStep, kind, (kind,), (kind.before, kind.after))
    ended = tuple(kind for kind in PROCESS_FAULTS.values() if kind.ending is ENDINGS[word])
    return _model(EndingStep, ENDINGS[word], ended, (tuple(kind.after for kind in ended), "running"))


def _model(
    base: type[ProcessStep],
    entry: ProcessFaultKind | Ending,
    kinds: tuple[ProcessFaultKind, ...],
    moves: tuple[tuple[str, ...], str],
) -> type[Step]:
    references = ProcessRefs if kinds[0].of_producer else ActorRefs
    options = entry.options if isinstance(entry, ProcessFaultKind) else {}
    fields: dict[str, Any] = {"targets": (references, Field(description=entry.targets)), **options}
    model: type[ProcessStep] = create_model(
        entry.word.title().replace("-", ""),
        __base__=base,
        __module__=__name__,
        __doc__=entry.doc,
        **fields,
    )
    model.kinds = kinds
    model.word, model.example = entry.word, entry.example
    model.moves = moves
    model.acts_on_process = kinds[0].acts_on_process
    return model
