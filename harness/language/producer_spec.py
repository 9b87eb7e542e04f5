"""The producer as a scenario declares it."""

from __future__ import annotations

from pydantic import Field

from rocketchaos.harness.language.consumer_spec import ClientText
from rocketchaos.harness.language.words import Strict
from rocketchaos.harness.rocketmq.client_kinds import USUAL_CLIENT, ClientChoice, client_choice

PRODUCER = "producer"
"""Its name in steps and histories."""


class Producer(Strict):
    """The one producer of a scenario, which sends what `send` steps say."""

    client: ClientText = Field(
        default=USUAL_CLIENT,
        description="which client: `java`, `java@4.9.4` in a version of its own, `python`, `grpc`, `go`; a matrix "
        "leaves it as it is",
    )

    @property
    def choice(self) -> ClientChoice:
        """Its client."""
        return client_choice(self.client)
