"""What is to be run: a scenario, with a version of RocketMQ."""

from dataclasses import dataclass

from rocketchaos.harness.rocketmq.client_kinds import ClientChoice
from rocketchaos.harness.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class Job:
    """One scenario on one version of RocketMQ, once."""

    scenario: Scenario
    """As it is played: its consumers have their clients."""
    rocketmq: str
    """The version of the servers, and of the clients that aren't asked for in another."""
    client: ClientChoice | None = None
    """What was given to the consumers that name no client; None: nothing, they are RocketMQ's own."""

    @property
    def clients(self) -> str:
        """The clients as a matrix names them: `java`, `java@4.9.4+python`."""
        choices = [consumer.choice for consumer in self.scenario.consumers.values()]
        return "+".join(sorted({str(choice) for choice in choices or [self.scenario.producer.choice]}))


def job_of(scenario: Scenario, rocketmq: str, client: ClientChoice | None = None) -> Job:
    """The job that plays the scenario with this client, where it names none itself."""
    return Job(scenario if client is None else scenario.with_client(client), rocketmq, client)
