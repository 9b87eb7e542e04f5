"""The producer as a scenario declares it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from rocketchaos.harness.language.consumer_spec import ClientText
from rocketchaos.harness.language.name_servers import NameServerNames
from rocketchaos.harness.language.words import Strict
from rocketchaos.harness.rocketmq.client_kinds import USUAL_CLIENT, ClientChoice, client_choice
from rocketchaos.harness.rocketmq.properties import Value

PRODUCER = "producer"
"""Its name in steps and histories."""


ProducerGroup = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_%|-]{1,112}$")]


class Producer(Strict):
    """A producer, which sends what `send` steps say. It starts before the first step."""

    client: ClientText = Field(
        default=USUAL_CLIENT,
        description="which client: `java`, `java@4.9.4` in its own version, `python`, `grpc`, `go`; a matrix "
        "doesn't change it",
    )

    group: ProducerGroup | None = Field(
        default=None,
        description="its producer group, which others may share; default: one of its own. Brokers ask any "
        "member of the group about a transaction; one that hasn't sent it answers `unknown`",
    )

    settings: dict[str, Value] = Field(
        default_factory=dict,
        description="properties of RocketMQ's Java producer, by their own names, set before its start: "
        "`{sendMsgTimeout: 500, retryTimesWhenSendFailed: 2}`; the harness's own are 3000 and 0",
    )

    name_servers: NameServerNames | None = Field(
        default=None,
        description="the name servers that it knows, `nameserver-2`; default: all of the cluster",
    )

    @model_validator(mode="after")
    def _can_be_set(self) -> Producer:
        if self.name_servers is not None and self.choice.kind.needs_proxy:
            raise ValueError(
                "it speaks to the proxy, which asks the name servers for it: leave out `name_servers`"
            )
        if self.settings and self.choice.kind.name != USUAL_CLIENT:
            raise ValueError(f"`settings` are those of RocketMQ's Java producer: {self.choice} has none")
        return self

    @property
    def choice(self) -> ClientChoice:
        """Its client."""
        return client_choice(self.client)
