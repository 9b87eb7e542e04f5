"""Requests of a producer of the `java` worker, and the replies of its listeners.

Rests on DefaultMQProducer.request, RequestCallback, MessageUtil.createReplyMessage and
MQClientInstance.getDefaultMQProducer as they are from RocketMQ 4.9.0 to 5.5.0.
"""

import threading
import time
from collections.abc import Sequence
from typing import Any

import jpype

from rocketchaos.harness.workers.child.jvm import failure
from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe

_TIMEOUT = "RequestTimeoutException"
"""What the client throws where a broker has the request, and no reply came in time."""
_TYPE, _REPLY = "MSG_TYPE", "reply"
"""MessageConst.PROPERTY_MESSAGE_TYPE, MixAll.REPLY_MESSAGE_FLAG."""
_SHOWN = 200
_LATER_S = 5.0
"""RocketMQ's client looks for requests that are overdue once a second, from 3 s after its start on
(RequestFutureHolder.startScheduledTask)."""


class Request:
    """One request, and what the producer gets for it: each is reported, none kept."""

    def __init__(self, name: str, events: EventPipe, *, key: str | None, topic: str, limit_ms: int) -> None:
        """
        Args:
            name: the producer's.
            events: where each answer is reported.
            key: the message's.
            topic: the message's.
            limit_ms: how long it waits for the reply.
        """
        self._events = events
        self._about = {"consumer": name, "key": key, "topic": topic}
        self._limit_ms = limit_ms
        self._until = time.monotonic() + limit_ms / 1000
        self._called = threading.Event()
        self._not_sent: CommandFailed | None = None
        methods = {"onSuccess": self._got, "onException": self._threw}
        self._callback = jpype.JProxy("org.apache.rocketmq.client.producer.RequestCallback", dict=methods)

    def ask(self, producer: Any, message: Any, target: Sequence[Any]) -> None:
        """Send it, and wait for the reply.

        Raises:
            CommandFailed: it was not sent.
        """
        try:
            self._got(producer.request(message, *target, jpype.JLong(self._limit_ms)))
        except jpype.JException as error:
            self._threw(error)
            self._raise_unless_sent()

    def begin(self, producer: Any, message: Any, target: Sequence[Any]) -> None:
        """Send it with a RequestCallback; see `end`."""
        producer.request(message, *target, self._callback, jpype.JLong(self._limit_ms))

    def end(self) -> None:
        """Wait until its time is over: the callback may be called more than once.

        Raises:
            CommandFailed: it was not sent, or the callback was never called.
        """
        # No condition shows that a second call won't come: only its time does.
        time.sleep(max(0.0, self._until - time.monotonic()))
        if not self._called.wait(_LATER_S):
            raise CommandFailed(f"the RequestCallback was not called within {_LATER_S:g} s after its time")
        self._raise_unless_sent()

    def _raise_unless_sent(self) -> None:
        if self._not_sent is not None:
            raise self._not_sent

    def _got(self, answer: Any) -> None:
        if answer is None:
            self._report("nothing")
        else:
            got = "reply" if answer.getProperty(_TYPE) == _REPLY else "request"
            text = bytes(answer.getBody() or b"").decode(errors="replace")
            self._report(got, text=text[:_SHOWN])

    def _threw(self, error: Any) -> None:
        said = failure(error)
        if _TIMEOUT in said.exceptions:
            self._report("exception", error=str(said), code=said.code, exceptions=list(said.exceptions))
        else:
            self._not_sent = said
            self._called.set()

    def _report(self, got: str, **further: Any) -> None:
        self._events.emit("request-answered", {**self._about, "got": got, **further})
        self._called.set()


def send_reply(consumer: Any, message: Any, text: str) -> str:
    """Reply to a message as RocketMQReplyListener of Spring does; the SendStatus.

    Raises:
        jpype.JException: the message is no request, or the broker can't hand the reply over.
    """
    reply = jpype.JClass("org.apache.rocketmq.client.utils.MessageUtil").createReplyMessage(
        message, text.encode()
    )
    producer = consumer.getDefaultMQPushConsumerImpl().getmQClientFactory().getDefaultMQProducer()
    return str(producer.send(reply).getSendStatus())
