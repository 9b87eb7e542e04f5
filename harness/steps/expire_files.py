"""`expire-files`: a broker deletes what its files have kept long enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packaging.version import Version
from pydantic import Field

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.servers import FilesExpired
from rocketchaos.harness.language.words import BrokerRef, DurationMs, TopicName
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.steps.base import Step, every_step
from rocketchaos.harness.steps.broker_config import BrokerConfig

if TYPE_CHECKING:
    from rocketchaos.harness.rocketmq import remoting
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

GET_MIN_OFFSET, CLEAN_EXPIRED_CONSUMEQUEUE, DELETE_EXPIRED_COMMITLOG = 31, 306, 329
_KNOWS_329 = Version("4.9.4")
_EVERY_HOUR = {"deleteWhen": ";".join(f"{hour:02}" for hour in range(24))}
_SOON = ("fileReservedTime", "mappedFileSizeCommitLog")
"""Without these nothing expires within a run."""
_LOOK_EVERY_S = 0.2


class ExpireFiles(Step):
    """Have brokers delete expired files (DELETE_EXPIRED_COMMITLOG, 329; CLEAN_EXPIRED_CONSUMEQUEUE, 306).

    A file expires `fileReservedTime` hours after its last change; the file being written never expires. To
    have something deleted at once, give `cluster: {broker: {fileReservedTime: 0, mappedFileSizeCommitLog:
    65536}}` and send more than a file holds. Brokers check every 10 s, starting a minute after their start,
    so the step waits until a queue of the topic begins at a higher offset than before. Versions before 4.9.4
    have no 329: there `deleteWhen` names every hour while the step waits
    (CleanCommitLogService.isTimeToDelete).
    """

    word = "expire-files"
    example = "expire-files: {topic: orders, within: 90s}"

    topic: TopicName = Field(description="the topic; one of its queues must then begin at a higher offset")
    broker: BrokerRef | None = Field(default=None, description="the broker; default: the topic's")
    within: DurationMs = Field(default=90_000, gt=0, description="the limit", validate_default=False)

    def problems(self, scenario: Scenario) -> Iterator[str]:
        brokers = scenario.brokers_of(self.topic)
        if self.broker is None and len(brokers) > 1:
            yield f"{self.topic} is on {', '.join(brokers)}: choose one, `broker: {brokers[0]}`"

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        cluster = scenario.cluster
        lines = {**cluster.broker, **{name: "" for own in cluster.one_broker.values() for name in own}}
        missing = [name for name in _SOON if name not in lines]
        if missing and not any(isinstance(step, BrokerConfig) for step in every_step(scenario.steps)):
            yield (
                f"the brokers have no {' and no '.join(missing)}: files have 1 GiB and stay for 72 h, so none "
                "expires; give `cluster: {broker: {fileReservedTime: 0, mappedFileSizeCommitLog: 65536}}`"
            )

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario
        yield "configure"

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.cluster import running_config

        broker = self.broker or context.scenario.brokers_of(self.topic)[0]
        address = context.servers.node_addresses.get(broker)
        if address is None:
            raise PreconditionNotMet(f"expire-files: {broker} is {context.servers.down.get(broker)}")
        master = context.servers.node(broker).slave_of or broker
        queues = [queue for queue in context.servers.queues(self.topic) if queue[0] == master]
        before = self._begins(context, broker, address, queues)
        if Version(context.servers.cluster.version) < _KNOWS_329:
            usual = running_config.change(self.word, broker, address, _EVERY_HOUR)
            after = self._await(context, broker, address, queues, before)
            running_config.change(self.word, broker, address, usual)
        else:
            for code in (DELETE_EXPIRED_COMMITLOG, CLEAN_EXPIRED_CONSUMEQUEUE):
                _demand(broker, address, code)
            after = self._await(context, broker, address, queues, before)
        context.history.append(
            "harness",
            FilesExpired(broker=broker, topic=self.topic, min_offsets_before=before, min_offsets=after),
        )

    def _await(
        self, context: StepContext, broker: str, address: str, queues: list[Queue], before: dict[str, int]
    ) -> dict[str, int]:
        from rocketchaos.harness.core.looking import look_until

        def observe() -> dict[str, int]:
            context.check_alive()
            return self._begins(context, broker, address, queues)

        def later(now: dict[str, int]) -> bool:
            return any(now[queue] > before[queue] for queue in before)

        seen = look_until(observe, later, self.within / 1000, _LOOK_EVERY_S)
        if not later(seen):
            raise PreconditionNotMet(
                f"expire-files: within {self.within / 1000:g} s no queue of {self.topic} on {broker} begins later "
                f"than before; last seen: {seen}",
                "Are the files full and expired? See `expire-files` in the language reference.",
            )
        return seen

    def _begins(self, context: StepContext, broker: str, address: str, queues: list[Queue]) -> dict[str, int]:
        """Where each queue begins, by its id."""
        found = {}
        for _, queue_id in queues:
            fields = {"topic": context.names.real(self.topic), "queueId": str(queue_id)}
            found[str(queue_id)] = int(
                _ask(broker, address, GET_MIN_OFFSET, fields).fields.get("offset", "0")
            )
        return found


def _demand(broker: str, address: str, code: int) -> None:
    from rocketchaos.harness.rocketmq import remoting

    answer = _ask(broker, address, code, {})
    if answer.code != remoting.SUCCESS:
        raise PreconditionNotMet(
            f"expire-files: {broker} refuses request {code}: code {answer.code}, {answer.remark}"
        )


def _ask(broker: str, address: str, code: int, fields: dict[str, str]) -> remoting.Answer:
    from rocketchaos.harness.rocketmq import remoting

    try:
        return remoting.ask(address, code, fields)
    except OSError as error:
        raise PreconditionNotMet(
            f"expire-files: {broker} doesn't answer: {error}", about=(broker,)
        ) from error
