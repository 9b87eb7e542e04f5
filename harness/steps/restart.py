"""`restart`: clients and servers come again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.language.words import ProcessRefs
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext
    from rocketchaos.harness.scenario.model import Scenario


class Restart(Step):
    """Start clients or nodes anew, each in a new process; those that still run are shut down gracefully before.

    Consumers begin as they were declared: subscriptions and behaviour that steps changed are as at the first
    start. Nodes keep store, port and address; the step is over once a broker is registered and answers, or once
    a name server answers and every running broker has registered again by its own timer (30 s in RocketMQ, 10 s
    compressed).
    """

    word = "restart"
    shorthand = "targets"
    moves: ClassVar = (("running", "stopped", "killed"), "running")
    node_moves: ClassVar = (("running", "stopped", "killed"), "running")
    example = "restart: [a, b]"

    targets: ProcessRefs = Field(
        description="whom to restart, in this order: consumers, nodes, the `producer`"
    )

    def acts_on(self) -> tuple[str, ...]:
        return self.targets

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        yield from ("restart" for target in self.targets if target in scenario.cluster.nodes)

    def run(self, context: RunContext) -> None:
        from rocketchaos.harness.faults.restart_node import RestartNode
        from rocketchaos.harness.faults.restart_producer import RestartProducer

        for name in context.resolve(self.targets):
            if context.is_node(name):
                context.faults.inject(RestartNode(context, name))
                continue
            if name == context.producer.name:
                context.faults.inject(RestartProducer(context.producer))
                continue
            consumer = context.consumers[name]
            if consumer.started:
                consumer.stop()
            consumer.start()
