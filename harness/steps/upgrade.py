"""`upgrade`: a broker restarts with another version of RocketMQ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.language.words import BrokerRef
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext


class Upgrade(Step):
    """Restart a broker with another version of RocketMQ, newer or older, on the store and address that it has.

    The broker shuts down if it still runs. From then on it has this version, also after a `kill` and a `restart`.
    Other servers and the clients keep theirs; `rocketmq` and `--rocketmq` name the version before. A run downloads
    a release before it starts.
    """

    word = "upgrade"
    example = "upgrade: {broker: broker-a, to: 5.5.0}"
    moves: ClassVar = (("running", "stopped", "killed"), "running")

    broker: BrokerRef = Field(description="the broker, master or slave")
    to: str = Field(
        description="the version that it has from then on: a release, `5.5.0`, or the folder of a build of "
        "your own"
    )

    def acts_on(self) -> tuple[str, ...]:
        return (self.broker,)

    def field_of(self, index: int) -> tuple[str | int, ...]:
        del index  # there is one
        return ("broker",)

    @property
    def version(self) -> str:
        """The release, or the name of the build.

        Raises:
            UsageProblem: there is none of this name, or no whole build in this folder.
        """
        from rocketchaos.harness.jars.builds import version_of

        return version_of(self.to)

    def problems(self, scenario: Scenario) -> Iterator[str]:
        from rocketchaos.harness.rocketmq import versions

        try:
            versions.parse(self.version)
        except UsageProblem as error:
            yield f"{error.message}. {error.hint}" if error.hint else error.message
        if scenario.cluster.accounts:
            yield "access control differs from version to version: leave `accounts` out"
        if scenario.cluster_needs.proxy == "local":
            yield "a broker with a proxy inside can't be upgraded: `proxy: cluster` has a process of its own"

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario  # whichever broker it is
        yield "upgrade"

    def releases(self) -> tuple[str, ...]:
        return (self.version,)

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.faults.upgrade import Upgrade as UpgradeFault

        context.faults.inject(UpgradeFault(context, self.broker, self.version))
