"""`delay`: a broker's answers come late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, model_validator

from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.language.cluster_needs import NAMESERVER
from rocketchaos.harness.language.words import BrokerRef, DurationMs
from rocketchaos.harness.steps.base import every_step
from rocketchaos.harness.steps.network import Effect, NetworkStep, inject, place_of, sidecars

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


class Delay(NetworkStep):
    """Delay everything that a broker sends to its clients, until `heal`.

    You can't choose a client or a direction: the kernel delays all that the broker sends (`tc netem`); if it
    can't, Toxiproxy delays all that passes the broker's advertised address. With `tc netem` the broker's
    packets to name server and slaves are late as well. It runs with `--on containers` alone.
    """

    word = "delay"
    acts_on_process: ClassVar[bool] = False
    example = "delay: {of: broker-a, by: 200ms, jitter: 50ms}"

    of: BrokerRef = Field(description="the broker that answers late")
    by: DurationMs = Field(ge=20, le=60_000, description="the delay, at least `20ms`")
    jitter: DurationMs = Field(
        default=0,
        description="a random difference of up to this much from `by`, evenly distributed; at most half of `by`",
        validate_default=False,
    )

    @model_validator(mode="after")
    def _less_jitter(self) -> Delay:
        if self.jitter * 2 > self.by:
            raise ValueError("`jitter` is at most half of `by`")
        return self

    def acts_on(self) -> tuple[str, ...]:
        return (self.of,)

    def field_of(self, index: int) -> tuple[str | int, ...]:
        del index  # there is one
        return ("of",)

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario  # whichever broker it is
        yield from ("partition", "delay")

    def effects(self, scenario: Scenario) -> Iterator[Effect]:
        del scenario  # whichever broker it is
        yield Effect(self.word, self.of, (self.of,), frozenset({self.of}))

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.cluster.base import Delayable
        from rocketchaos.harness.faults.delay import Delay as DelayFault
        from rocketchaos.harness.faults.sidecar_trials import Trials

        if not isinstance(context.servers.cluster, Delayable):
            raise HarnessDefect(
                f"brokers of a cluster of kind {context.servers.cluster.kind} can't be delayed"
            )
        # From where nobody else is delayed or cut off.
        trials = Trials(sidecars(context).of(place_of(context, NAMESERVER)))
        line = context.servers.cluster.delay_line(self.of)
        address = context.servers.node(self.of).address
        inject(context, DelayFault(self.of, line, trials, address, self.by, self.jitter))


def delayed_brokers(scenario: Scenario) -> tuple[str, ...]:
    """The brokers that a step delays: where Toxiproxy does it, it must be there before they are."""
    return tuple(dict.fromkeys(step.of for step in every_step(scenario.steps) if isinstance(step, Delay)))
