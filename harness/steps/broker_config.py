"""`broker-config`: settings of brokers that run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.servers import BrokerConfigured
from rocketchaos.harness.language.server_lines import (
    ConfigurationKey,
    ConfigurationValue,
    as_rocketmq_reads,
    protected,
    tls_problem,
)
from rocketchaos.harness.language.words import BrokerRef
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


class BrokerConfig(Step):
    """Change settings of running brokers (UPDATE_BROKER_CONFIG, 25), and make sure that they have them (26).

    RocketMQ reads some settings only when a broker starts, although it shows the new value at once. Give
    those under `cluster`, or `restart` the broker, which keeps them. So `brokerRole: ASYNC_MASTER` and a
    `restart` make a slave the master, once its own master is dead.
    """

    word = "broker-config"
    example = "broker-config: {set: {longPollingEnable: true}, broker: broker-a}"

    settings: dict[ConfigurationKey, ConfigurationValue] = Field(
        alias="set", min_length=1, description="settings as in broker.conf: `longPollingEnable: true`"
    )
    broker: BrokerRef | None = Field(default=None, description="the broker; default all, slaves included")

    def problems(self, scenario: Scenario) -> Iterator[str]:
        del scenario
        refused = protected(self.settings)
        if refused:
            yield f"the harness itself sets {', '.join(refused)}: leave that out"
        if problem := tls_problem(self.settings):
            yield problem

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario
        yield "configure"

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.cluster import running_config

        wanted = as_rocketmq_reads(self.settings)
        addresses = context.servers.node_addresses
        for broker in addresses if self.broker is None else (self.broker,):
            if broker not in addresses:
                raise PreconditionNotMet(f"broker-config: {broker} is {context.servers.down.get(broker)}")
            before = running_config.change(self.word, broker, addresses[broker], wanted)
            context.history.append("harness", BrokerConfigured(broker=broker, settings=wanted, before=before))
