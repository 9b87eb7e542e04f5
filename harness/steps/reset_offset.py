"""`reset-offset`: a group's stored offsets are made what they are to be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.messages import OffsetsReset, QueueOffset
from rocketchaos.harness.language.words import GroupName, TopicName
from rocketchaos.harness.rocketmq.allocation import Queue
from rocketchaos.harness.steps.base import Step

if TYPE_CHECKING:
    from rocketchaos.harness.rocketmq import remoting
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

QUERY_CONSUMER_OFFSET, UPDATE_CONSUMER_OFFSET, UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 14, 15, 200
_ENDS = {"begin": 31, "end": 30}
"""The request for an end of a queue: GET_MIN_OFFSET, GET_MAX_OFFSET."""
_GROUP_NOT_EXIST = 26


class ResetOffset(Step):
    """Set the group's offset at the broker (UPDATE_CONSUMER_OFFSET, 15), even beyond the queue's end.

    Running members keep their own offset and store it again: stop them first. If a broker of 5.x doesn't know
    the group yet, the step first creates it there, as a consumer's first heartbeat would.
    """

    word = "reset-offset"
    example = "reset-offset: {group: g, topic: orders, queue: 0, to: 100}"

    group: GroupName = Field(description="the group")
    topic: TopicName = Field(description="the topic")
    queue: int | None = Field(default=None, ge=0, description="the id of the queue; default all")
    to: Annotated[int, Field(strict=True, ge=0)] | Literal["begin", "end"] = Field(
        description="the offset; `begin`: the first message that the queue has; `end`: the one that is sent next"
    )

    def problems(self, scenario: Scenario) -> Iterator[str]:
        number = max(topic.all_queues for topic in scenario.topic_in_time(self.topic))
        if self.queue is not None and self.queue >= number:
            yield f"{self.topic} has the queues 0 to {number - 1}: there is no queue {self.queue}"

    def run(self, context: StepContext) -> None:
        queues = [item for item in context.servers.queues(self.topic) if self.queue in (None, item[1])]
        changed = [self._reset(context, queue) for queue in queues]
        context.history.append(
            "harness", OffsetsReset(group=self.group, topic=self.topic, queues=tuple(changed))
        )

    def _reset(self, context: StepContext, queue: Queue) -> QueueOffset:
        from rocketchaos.harness.rocketmq import remoting

        broker, queue_id = queue
        address = context.servers.broker_addresses.get(broker)
        if address is None:
            raise PreconditionNotMet(f"reset-offset: {broker} is {context.servers.down.get(broker)}")
        fields = {
            "consumerGroup": context.names.real(self.group),
            "topic": context.names.real(self.topic),
            "queueId": str(queue_id),
        }
        offset = self._meant(broker, address, fields)
        update = {**fields, "commitOffset": str(offset)}
        answer = _ask(broker, address, UPDATE_CONSUMER_OFFSET, update)
        if answer.code == _GROUP_NOT_EXIST:
            group = {"groupName": context.names.real(self.group)}
            _ask(broker, address, UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, json.dumps(group).encode())
            answer = _ask(broker, address, UPDATE_CONSUMER_OFFSET, update)
        stored = _ask(broker, address, QUERY_CONSUMER_OFFSET, fields)
        if answer.code != remoting.SUCCESS or stored.fields.get("offset") != str(offset):
            raise PreconditionNotMet(
                f"reset-offset: {broker}:{queue_id} of {self.topic}: asked to store {offset}, the broker answers "
                f"{answer.code} {answer.remark}".rstrip()
                + f"; stored is {stored.fields.get('offset', 'none')}"
            )
        return QueueOffset(broker=broker, queue_id=queue_id, offset=offset)

    def _meant(self, broker: str, address: str, fields: Mapping[str, str]) -> int:
        """The offset of this queue."""
        if isinstance(self.to, int):
            return self.to
        answer = _ask(broker, address, _ENDS[self.to], fields)
        if "offset" not in answer.fields:
            raise PreconditionNotMet(
                f"reset-offset: {broker} doesn't tell the {self.to} of {self.topic}: {answer.code} "
                f"{answer.remark}",
                about=(broker,),
            )
        return int(answer.fields["offset"])


def _ask(
    broker: str, address: str, code: int, fields: Mapping[str, str], body: bytes = b""
) -> remoting.Answer:
    from rocketchaos.harness.rocketmq import remoting

    try:
        return remoting.ask(address, code, fields, body)
    except OSError as error:
        raise PreconditionNotMet(
            f"reset-offset: {broker} doesn't answer: {error}", about=(broker,)
        ) from error
