"""`refuse-pulls`: a broker made by hand answers pulls with a code that RocketMQ's own never give."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic import Field
from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from harness.clients.refusing_broker import RefusingBroker
from harness.cluster.server_settings import CLUSTER_NAME
from harness.errors import PreconditionNotMet
from harness.language import DurationMs, TopicName
from harness.response_codes import ResponseCode, in_words
from harness.steps.base import Step

if TYPE_CHECKING:
    from harness.context import RunContext
    from harness.scenario import Scenario

_LOOK_EVERY_S = 0.05


class RefusePulls(Step):
    """Have a broker made by hand join, with one more queue of the topic, and answer every pull there with a code.

    Whoever consumes the topic is given that queue too by and by, as its client asks the name server for routes.
    The step is over when so many pulls have come, and the broker is gone then. `refused-pulls: {of: f1, …}` among
    the checks says how soon the client comes again.
    """

    word = "refuse-pulls"
    example = "refuse-pulls: {as: f1, topic: orders, code: FLOW_CONTROL, pulls: 20, within: 60s}"

    name: str = Field(
        alias="as", pattern=r"^[a-z][a-z0-9-]*$", description="the name by which checks find its pulls"
    )
    topic: TopicName = Field(description="the topic")
    code: ResponseCode = Field(description="the response code, as RocketMQ calls it, or its number")
    pulls: int = Field(default=20, ge=2, le=10_000, description="so many pulls must come")
    within: DurationMs = Field(default=60_000, gt=0, description="the limit", validate_default=False)

    def defines(self) -> tuple[tuple[str, str], ...]:
        return (("refusal", self.name),)

    def problems(self, scenario: Scenario) -> Iterator[str]:
        if scenario.workers == "containers":
            yield "workers in containers don't reach a broker that is made by hand on this host"

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario
        yield "configure"

    def run(self, context: RunContext) -> None:
        lock, count = threading.Lock(), 0

        def refused(fields: Mapping[str, str]) -> None:
            nonlocal count
            with lock:
                count += 1
                group = context.name_of_group(str(fields.get("consumerGroup")))
                told = {"name": self.name, "group": group, "topic": self.topic, "status": in_words(self.code)}
                context.history.append("harness", "pull-refused", told)

        def look() -> int:
            context.check_alive()
            return count

        broker = RefusingBroker(f"refusing-{self.name}", self.code, refused)
        try:
            broker.register(context.cluster.nameserver, CLUSTER_NAME, context.real_topic(self.topic))
            Retrying(
                retry=retry_if_result(lambda seen: seen < self.pulls),
                wait=wait_fixed(_LOOK_EVERY_S),
                stop=stop_after_delay(self.within / 1000),
            )(look)
        except RetryError:
            raise PreconditionNotMet(
                f"refuse-pulls: {count} of {self.pulls} pulls came within {self.within / 1000:g} s"
            ) from None
        except OSError as error:
            raise PreconditionNotMet(f"refuse-pulls: the name server doesn't answer: {error}") from error
        finally:
            broker.close()
