"""Ways of sending a message, other than the usual one that waits until the broker has it in its queue."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

from pydantic import Field, model_validator

from rocketchaos.harness.language.words import DurationMs, Strict

TransactionState = Literal["commit", "rollback", "unknown"]
"""LocalTransactionState: COMMIT_MESSAGE, ROLLBACK_MESSAGE, UNKNOW."""


ASYNC = "async"
"""The key of a send with a callback, which is acknowledged like a usual one."""
UNDER_WAY = 16
"""The most messages that are sent with a callback at the same time."""


class Transaction(Strict):
    """A half message, which consumers get only once it is committed.

    Brokers ask the producer about transactions that stay unknown: `transactionTimeOut` (6 s) after the
    sending, then every `transactionCheckInterval` (60 s, 5.x 30 s); `cluster: {broker: …}` makes both
    shorter. While no member of the producer's group runs, as after `kill: producer`, no answer comes.
    """

    state: TransactionState = Field(description="what executeLocalTransaction answers")
    checked: TransactionState = Field(
        default="unknown", description="what checkLocalTransaction answers whenever a broker asks"
    )
    takes: DurationMs = Field(
        default=0,
        ge=0,
        description="how long executeLocalTransaction takes; brokers may ask meanwhile",
    )


_TOGETHER = {
    *(
        (delay, other)
        for delay in ("delay_level", "delay")
        for other in ("batch", "oneway", ASYNC, "transaction")
    ),
    ("batch", ASYNC),
    (ASYNC, "request"),
}
"""Ways that go together, in the order of the fields."""


class Sending(Strict):
    """How each message is sent."""

    delay_level: int | None = Field(
        default=None,
        ge=1,
        le=18,
        description="setDelayTimeLevel: 1 is 1 s, 3 is 10 s, 18 is 2 h; clients: `java`, `go`, `python`",
    )
    delay: DurationMs | None = Field(
        default=None,
        gt=0,
        description="setDelayTimeMs, the timer of 5.x: consumers get it this much later; clients: `java`, and "
        "`grpc` (in whole seconds) and `grpc-java`, on a topic with `message.type: DELAY`",
    )
    batch: int | None = Field(
        default=None,
        ge=2,
        le=1000,
        description="this many messages at a time, in one request and one queue; clients: `java`, `go`",
    )
    oneway: bool = Field(
        default=False,
        description="sendOneway: the producer doesn't wait for the broker's answer; clients: `java`, `go`",
    )
    asynchronous: bool = Field(
        default=False,
        alias="async",
        description="send with a SendCallback: at most 16 messages are under way at a time, and may overtake one "
        "another; the step ends with the last callback. A message whose callback brings an exception, or "
        "doesn't come, is not acknowledged; clients: `java`, `go`",
    )
    transaction: Transaction | None = Field(
        default=None,
        description="sendMessageInTransaction: `{state: unknown, checked: commit}`; client: `java`",
    )
    request: DurationMs | None = Field(
        default=None,
        ge=100,
        le=60_000,
        description="request(message, timeout): it waits at most this long for the reply of a listener with "
        "`behaviour: {reply: true}`; with `async` by a RequestCallback, for the whole of this time. The check "
        "`replied` counts what it gets. Client: `java`",
    )

    @model_validator(mode="after")
    def _one_way(self) -> Sending:
        given = self.ways
        for first, second in combinations(given, 2):
            # What RocketMQ refuses, as a batch with a delay level, is seen when it is sent.
            if (first, second) not in _TOGETHER:
                raise ValueError(f"a message can't be sent with `{first}` and `{second}` at once")
        return self

    @property
    def ways(self) -> tuple[str, ...]:
        """The keys that it says, none if it is sent as usual."""
        fields = Sending.model_fields.items()
        return tuple(field.alias or name for name, field in fields if getattr(self, name))

    @property
    def as_data(self) -> dict[str, Any]:
        """What the worker gets; empty if it is sent as usual."""
        data: dict[str, Any] = {}
        if self.delay_level is not None:
            data["delay_level"] = self.delay_level
        if self.delay is not None:
            data["delay_ms"] = self.delay
        if self.oneway:
            data["oneway"] = True
        if self.asynchronous:
            data[ASYNC] = True
        if self.request is not None:
            data["request_ms"] = self.request
        if self.transaction is not None:
            chosen = self.transaction
            data["transaction"] = {"state": chosen.state, "checked": chosen.checked}
            if chosen.takes:
                data["transaction"]["takes_ms"] = chosen.takes
        return data
