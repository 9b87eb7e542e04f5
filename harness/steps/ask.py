"""`ask`: any request of RocketMQ's protocol to any of its servers, and the answer as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.events.servers import Asked
from rocketchaos.harness.language.words import DurationMs, NodeRef
from rocketchaos.harness.rocketmq.response_codes import in_words
from rocketchaos.harness.steps.base import Step
from rocketchaos.harness.steps.real_names import (
    in_scenarios_names,
    scenarios_own,
    unknown_names,
    with_real_names,
)

if TYPE_CHECKING:
    from rocketchaos.harness.rocketmq.remoting import Answer
    from rocketchaos.harness.scenario.model import Scenario
    from rocketchaos.harness.steps.context import StepContext

_LIMIT_S = 15.0
"""A broker waits 10 s for a client to which it passes a request on, and then answers for it
(Broker2Client.callClient, AdminBrokerProcessor.callConsumer)."""
_ASK_EVERY_S = 0.2
_SENDING = (10, 36, 310, 320)
"""SEND_MESSAGE, CONSUMER_SEND_MSG_BACK, SEND_MESSAGE_V2, SEND_BATCH_MESSAGE."""
_CREATING = 17
"""UPDATE_AND_CREATE_TOPIC."""
_DELETING = (215, 216)
"""DELETE_TOPIC_IN_BROKER, DELETE_TOPIC_IN_NAMESRV."""
_OF_SERVERS = (25, 100, 102, 103, 104, 205, 306, 316, 318, 327, 329)
"""UPDATE_BROKER_CONFIG, PUT_KV_CONFIG, DELETE_KV_CONFIG, REGISTER_BROKER, UNREGISTER_BROKER,
WIPE_WRITE_PERM_OF_BROKER, CLEAN_EXPIRED_CONSUMEQUEUE, CLEAN_UNUSED_TOPIC, UPDATE_NAMESRV_CONFIG,
ADD_WRITE_PERM_OF_BROKER, DELETE_EXPIRED_COMMITLOG: they change a server for everybody, so that no other run may
share it."""
_TEXT_LIMIT = 100_000
"""Characters of an answer's body that the history keeps."""
_NO_TEXT = "\ufffd"
_JSON_TEXT = re.compile(r':\s*"([^"]*)"')
"""The texts among the values of a body in JSON."""


class Ask(Step):
    """Send one request of any code to a broker, the name server or the proxy, and record the answer.

    In `fields` and `body` a name in angle brackets stands for the real one: `%RETRY%<g>` for a group's retry
    topic, `<orders>` for a topic, `<a>` for a consumer's client id, `<producer>` for a producer's group. In
    the answer the real names become the scenario's again, `g` and `a`; ids of messages stay. `<broker-a>` is
    a node's address, HOST:PORT; a proxy is asked at its remoting port. `<orders-1>` is the msgId of the first
    message sent to orders, `<orders-1.offset>` its offsetMsgId, and `<orders-1.stored>` the time at which its
    broker stored it, in milliseconds since 1970. The check `answer: {of: ids, …}` states what must be in the
    answer. A broker passes some requests on to a client, such as 307, GET_CONSUMER_RUNNING_INFO, and waits up
    to 10 s for it. With `within` the node is asked again until it answers SUCCESS, and the last answer is
    recorded: a broker answers 28, GET_BROKER_RUNTIME_INFO, with an error in the first second after its start
    (StoreStatsService). A request that changes a server for everybody, such as 25, UPDATE_BROKER_CONFIG, gets a
    cluster of its own.
    """

    word = "ask"
    example = "ask: {as: ids, node: broker-a, code: 38, fields: {consumerGroup: <g>}}"

    name: str = Field(
        alias="as", pattern=r"^[a-z][a-z0-9-]*$", description="the name by which checks find the answer"
    )
    node: NodeRef = Field(description="the server: `broker-a`, `nameserver`; `proxy` of `proxy: cluster`")
    code: int = Field(
        ge=0, le=32_767, description="the RequestCode, by its number: 38 is GET_CONSUMER_LIST_BY_GROUP"
    )
    fields: dict[str, str] = Field(default_factory=dict, description="the header's fields, all as text")
    body: str = Field(default="", description="the body, as text; JSON with most codes that have one")
    within: DurationMs | None = Field(
        default=None,
        gt=0,
        description="the limit for asking again until the answer is SUCCESS; default: ask once",
    )

    @property
    def sends_unseen(self) -> bool:
        return self.code in _SENDING

    def creates_on(self, broker: str, scenario: Scenario) -> tuple[str, ...]:
        if self.code != _CREATING or self.node != broker:
            return ()
        return tuple(topic for topic in scenario.topics if {topic, f"<{topic}>"} & {*self.fields.values()})

    def defines(self) -> tuple[tuple[str, str], ...]:
        return (("asked", self.name),)

    def capabilities(self, scenario: Scenario) -> Iterator[str]:
        del scenario
        if self.code in _OF_SERVERS:
            yield "configure"

    def problems(self, scenario: Scenario) -> Iterator[str]:
        yield from unknown_names((self.body, *self.fields.values()), scenario)

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        yield from scenarios_own((*self.fields.values(), *_JSON_TEXT.findall(self.body)), scenario)

    def run(self, context: StepContext) -> None:
        from rocketchaos.harness.core.looking import look_until
        from rocketchaos.harness.rocketmq import remoting

        if self.node in context.servers.down:
            raise PreconditionNotMet(f"ask: {self.node} is {context.servers.down[self.node]}")
        body, *values = with_real_names((self.body, *self.fields.values()), context, self.word)
        fields = dict(zip(self.fields, values, strict=True))
        try:
            address = context.servers.remoting_address(self.node)
            ask = partial(remoting.ask, address, self.code, fields, body.encode(), limit_s=_LIMIT_S)
            answer = look_until(
                ask, lambda seen: seen.code == remoting.SUCCESS, (self.within or 0) / 1000, _ASK_EVERY_S
            )
        except OSError as error:
            raise PreconditionNotMet(
                f"ask: {self.node} doesn't answer: {error}", about=(self.node,)
            ) from error
        context.history.append("harness", Asked.kind, self._in_words(context, answer))
        if self.code in _DELETING:
            # From here on nobody has its queues: that a look finds none is no error.
            for topic in context.scenario.topics:
                if fields.get("topic") == context.names.real(topic):
                    context.servers.topic_deleted(topic)

    def _in_words(self, context: StepContext, answer: Answer) -> dict[str, object]:
        named = partial(in_scenarios_names, context=context)
        return {
            "name": self.name,
            "of": self.node,
            "request": self.code,
            "code": answer.code,
            "status": in_words(answer.code),
            "remark": named(answer.remark),
            "fields": {key: named(str(value)) for key, value in answer.fields.items()},
            "text": named(_text(answer.body))[:_TEXT_LIMIT],
        }


def _text(body: bytes) -> str:
    """The body as text. What is not text, as the binary fields of stored messages, becomes the replacement
    character."""
    return "".join(
        char if char.isprintable() or char.isspace() else _NO_TEXT for char in body.decode(errors="replace")
    )
