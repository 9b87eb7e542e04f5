"""The answer to a message that was sent with a SendCallback.

Rests on org.apache.rocketmq.client.producer.SendCallback as it is from RocketMQ 4.9.0 to 5.5.0.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import jpype

from rocketchaos.harness.workers.protocol import CommandFailed

_LATER_S = 3.0
"""RocketMQ's client looks for answers that are overdue once a second (NettyRemotingAbstract.scanResponseTable)."""


class SendCallback:
    """A SendCallback; `java` is RocketMQ's view of it."""

    def __init__(self, timeout_ms: int) -> None:
        """
        Args:
            timeout_ms: of the sending.
        """
        self._limit_s = timeout_ms / 1000 + _LATER_S
        self._answer: Future[Any] = Future()
        methods = {"onSuccess": self._answer.set_result, "onException": self._answer.set_exception}
        self.java = jpype.JProxy("org.apache.rocketmq.client.producer.SendCallback", dict=methods)

    def result(self) -> Any:
        """The SendResult.

        Raises:
            CommandFailed: RocketMQ didn't call it.
            jpype.JException: what `onException` got.
        """
        try:
            return self._answer.result(self._limit_s)
        except TimeoutError:
            raise CommandFailed(f"the SendCallback was not called within {self._limit_s:g} s") from None
