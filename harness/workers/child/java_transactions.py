"""The answers of a transactional producer of the `java` worker about its transactions.

Rests on TransactionListener and LocalTransactionState as they are from RocketMQ 4.9.0 to 5.5.0.
"""

import time
from collections.abc import Mapping
from typing import Any

import jpype

from rocketchaos.harness.workers.protocol import EventPipe

_PACKAGE = "org.apache.rocketmq.client.producer"
_STATES = {"commit": "COMMIT_MESSAGE", "rollback": "ROLLBACK_MESSAGE", "unknown": "UNKNOW"}


class Transactions:
    """A TransactionListener; `java` is RocketMQ's view of it."""

    def __init__(self, name: str, events: EventPipe) -> None:
        """
        Args:
            name: the producer's.
            events: where each question of a broker is reported.
        """
        self.answers: dict[str, Mapping[str, Any]] = {}
        """By the first key of a message, `state`, `checked` and `takes_ms`."""
        self._name = name
        self._events = events
        self._states = jpype.JClass(f"{_PACKAGE}.LocalTransactionState")
        methods = {"executeLocalTransaction": self._execute, "checkLocalTransaction": self._check}
        self.java = jpype.JProxy(f"{_PACKAGE}.TransactionListener", dict=methods)

    def _execute(self, message: Any, _argument: Any) -> Any:
        key = str(message.getKeys()).split()[0]
        time.sleep(self.answers.get(key, {}).get("takes_ms", 0) / 1000)
        return self._state(key, "state")

    def _check(self, message: Any) -> Any:
        key = str(message.getKeys()).split()[0]
        state = self._answer(key, "checked")
        found = {"consumer": self._name, "key": key, "topic": str(message.getTopic()), "state": state}
        self._events.emit("transaction-checked", found)
        return getattr(self._states, _STATES[state])

    def _state(self, key: str, which: str) -> Any:
        return getattr(self._states, _STATES[self._answer(key, which)])

    def _answer(self, key: str, which: str) -> str:
        # An earlier producer's transactions are not this one's.
        return str(self.answers.get(key, {}).get(which, "unknown"))
