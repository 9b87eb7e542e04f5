"""`broker-config`: settings of brokers that run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from harness.cluster import readiness, remoting, server_settings
from harness.cluster_needs import ConfigurationKey, ConfigurationValue, as_rocketmq_reads
from harness.errors import PreconditionNotMet, UsageProblem
from harness.language import BrokerRef
from harness.steps.base import Step

if TYPE_CHECKING:
    from harness.context import RunContext
    from harness.scenario import Scenario


class BrokerConfig(Step):
    """Change settings of running brokers (UPDATE_BROKER_CONFIG, 25), and make sure that they have them (26).

    Some settings RocketMQ reads only when a broker starts, though it then shows the new value: give those under
    `cluster`, or `restart` the broker, which keeps them.
    """

    word = "broker-config"
    example = "broker-config: {set: {longPollingEnable: true}, broker: broker-a}"

    settings: dict[ConfigurationKey, ConfigurationValue] = Field(
        alias="set", min_length=1, description="settings as in broker.conf: `longPollingEnable: true`"
    )
    broker: BrokerRef | None = Field(
        default=None, description="the broker; all, slaves included, unless told"
    )

    def problems(self, scenario: Scenario) -> Iterator[str]:
        del scenario
        refused = server_settings.protected(self.settings)
        if refused:
            yield f"the harness itself decides of {', '.join(refused)}: leave that out"

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario
        yield "configure"

    def run(self, context: RunContext) -> None:
        wanted = as_rocketmq_reads(self.settings)
        addresses = {**context.broker_addresses, **context.slave_addresses}
        for broker in addresses if self.broker is None else (self.broker,):
            if broker not in addresses:
                raise PreconditionNotMet(f"broker-config: {broker} is {context.down.get(broker)}")
            before = _settings(broker, addresses[broker])
            _change(broker, addresses[broker], wanted, before)
            context.history.append(
                "harness",
                "broker-configured",
                {"broker": broker, "set": wanted, "before": {key: before[key] for key in wanted}},
            )


def _change(broker: str, address: str, wanted: Mapping[str, str], before: Mapping[str, str]) -> None:
    complaints = readiness.complaints(
        {key: value for key, value in wanted.items() if key not in before}, before
    )
    if complaints:
        # A name that it doesn't know a broker takes, shows and ignores.
        raise UsageProblem(f"broker-config: {'; '.join(complaints)}", "Correct them.")
    text = server_settings.properties_text(wanted)
    answer = _ask(broker, address, remoting.UPDATE_BROKER_CONFIG, text.encode("ascii"))
    if answer.code != remoting.SUCCESS:
        raise PreconditionNotMet(f"broker-config: {broker} refuses: code {answer.code}, {answer.remark}")
    complaints = readiness.complaints(wanted, _settings(broker, address))
    if complaints:
        raise PreconditionNotMet(f"broker-config: {broker} did not take {'; '.join(complaints)}")


def _settings(broker: str, address: str) -> dict[str, str]:
    """All settings that a broker has now."""
    text = _ask(broker, address, remoting.GET_BROKER_CONFIG, b"").body.decode("utf-8", errors="replace")
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def _ask(broker: str, address: str, code: int, body: bytes) -> remoting.Answer:
    try:
        return remoting.ask(address, code, body=body)
    except OSError as error:
        raise PreconditionNotMet(f"broker-config: {broker} doesn't answer: {error}") from error
