"""Events about single messages: from the sending to what a listener answers."""

from collections.abc import Mapping
from typing import ClassVar

from rocketchaos.harness.core.events.base import Body, Queue


class Sending(Body, frozen=True, kw_only=True):
    """What each event of a sending tells."""

    topic: str
    key: str
    """The harness's own name of the message, `<topic>-<number>`; it is also its RocketMQ key."""
    tag: str | None
    keys: tuple[str, ...] = ()
    """Further keys."""
    properties: Mapping[str, str] = {}


class ProducerRefused(Body, frozen=True, kw_only=True):
    """A producer's own start() threw."""

    kind: ClassVar[str] = "producer-refused"
    node: ClassVar[str] = "producer"
    error: str
    code: int | None = None
    """RocketMQ's response code, if there was one."""
    exceptions: tuple[str, ...] = ()
    """The classes of what the client threw, outermost first: `MQClientException`."""


class SendInvoked(Sending, frozen=True, kw_only=True):
    """The harness asks the producer to send: from here on the message may be stored."""

    kind: ClassVar[str] = "send-invoked"
    node: ClassVar[str] = "producer"


class Sent(Sending, frozen=True, kw_only=True):
    """A broker has acknowledged a message."""

    kind: ClassVar[str] = "sent"
    node: ClassVar[str] = "producer"
    status: str
    """A SendStatus, `SEND_OK`."""
    broker: str
    queue_id: int
    queue_offset: int
    msg_id: str | None = None
    offset_msg_id: str | None = None

    @property
    def queue(self) -> str:
        """`<broker>:<queue id>`."""
        return f"{self.broker}:{self.queue_id}"


class SendAccepted(Sending, frozen=True, kw_only=True):
    """A message is on its way: one-way, delayed, or half of a transaction. `sent` follows once it is stored."""

    kind: ClassVar[str] = "send-accepted"
    node: ClassVar[str] = "producer"
    how: str
    """`oneway`, `delayed`, `request`, `commit`, `rollback` or `unknown`."""
    status: str | None = None
    """A SendStatus, of the half of a transaction or of what waits; none of what was sent one-way."""
    msg_id: str | None = None
    delay_ms: int | None = None
    """How long the broker holds it back, of a message sent with a delay."""
    delay_level: int | None = None
    """The same as one of the broker's levels, from 1."""


class TransactionChecked(Body, frozen=True, kw_only=True):
    """A broker has asked the producer about a transaction, and this is its answer."""

    kind: ClassVar[str] = "transaction-checked"
    node: ClassVar[str] = "producer"
    key: str | None
    topic: str
    state: str
    """`commit`, `rollback` or `unknown`."""


class RequestAnswered(Body, frozen=True, kw_only=True):
    """What `request()` has returned or thrown, or one call of its RequestCallback."""

    kind: ClassVar[str] = "request-answered"
    node: ClassVar[str] = "producer"
    key: str
    """Of the request."""
    topic: str
    got: str
    """`reply`, `request` (the message itself that was sent), `nothing` (null) or `exception`."""
    text: str | None = None
    """The body of the reply, its first 200 characters."""
    error: str | None = None
    code: int | None = None
    """RocketMQ's response code, if there was one."""
    exceptions: tuple[str, ...] = ()
    """The classes of what the client threw, outermost first: `RequestTimeoutException`."""


class SendFailed(Sending, frozen=True, kw_only=True):
    """A message was not acknowledged; it may still be stored."""

    kind: ClassVar[str] = "send-failed"
    node: ClassVar[str] = "producer"
    error: str
    code: int | None
    """RocketMQ's response code, if there was one."""
    exceptions: tuple[str, ...] = ()
    """The classes of what the client threw, outermost first: `MQBrokerException`."""


class Recalled(Body, frozen=True, kw_only=True):
    """A broker has accepted that a delayed message is taken back. Whether it still comes, its consumers show."""

    kind: ClassVar[str] = "recalled"
    node: ClassVar[str] = "producer"
    key: str
    topic: str
    msg_id: str | None = None
    """As the broker says it."""


class RecallRefused(Body, frozen=True, kw_only=True):
    """A broker, or the producer's client, has refused to take a message back."""

    kind: ClassVar[str] = "recall-refused"
    node: ClassVar[str] = "producer"
    key: str
    topic: str
    error: str
    code: int | None = None
    """RocketMQ's response code, if there was one."""
    exceptions: tuple[str, ...] = ()
    """The classes of what the client threw, outermost first."""


class Received(Body, frozen=True, kw_only=True):
    """A listener, or a poll, gets a message; or a program reports that it handled it, see `line`."""

    kind: ClassVar[str] = "received"
    node: ClassVar[str] = "worker"
    topic: str
    tag: str | None
    key: str | None
    """The first of its keys, which the harness gave it."""
    keys: tuple[str, ...] = ()
    """Further keys."""
    broker: str | None = None
    """None, as with the next three: the line doesn't tell."""
    queue_id: int | None = None
    offset: int | None = None
    """In its queue, or in the queue of the retry topic."""
    reconsume_times: int | None = None
    """How often it has come back after a failure."""
    properties: Mapping[str, str] = {}
    msg_id: str | None = None
    offset_msg_id: str | None = None
    batch: int | None = None
    """How many messages this call of the listener, or this poll, got; none: the client doesn't tell."""
    line: str | None = None
    """What the program printed, wrote into its topic, answered, or traced, its first 200 characters, where that is
    how it is seen; none: a listener reports it."""

    @property
    def queue(self) -> str:
        """`<broker>:<queue id>`; empty where a line doesn't have it."""
        return "" if self.broker is None or self.queue_id is None else f"{self.broker}:{self.queue_id}"


class Answered(Body, frozen=True, kw_only=True):
    """Which message a listener is about."""

    key: str | None
    msg_id: str | None = None
    offset_msg_id: str | None = None


class Blocked(Answered, frozen=True, kw_only=True):
    """A listener blocks on a message, by its `behaviour: block`."""

    kind: ClassVar[str] = "blocked"
    node: ClassVar[str] = "worker"


class Consumed(Answered, frozen=True, kw_only=True):
    """What a listener answers for a message."""

    kind: ClassVar[str] = "consumed"
    node: ClassVar[str] = "worker"
    status: str
    """`CONSUME_SUCCESS`, `RECONSUME_LATER`, `SUCCESS`, or `SUSPEND_CURRENT_QUEUE_A_MOMENT`; `PRINTED` where a
    line, `WRITTEN` where an entry of a topic, `ANSWERED` where an HTTP answer says no more than that
    it was handled. A message trace says success or not, and is `CONSUME_SUCCESS` or `RECONSUME_LATER`.
    `PANIC` where a listener of Go panics, by its `behaviour`."""


class Replied(Answered, frozen=True, kw_only=True):
    """A listener has sent its reply to a message, by its `behaviour: {reply: true}`."""

    kind: ClassVar[str] = "replied"
    node: ClassVar[str] = "worker"
    status: str
    """A SendStatus, `SEND_OK`: the broker has handed it to the producer."""


class ReplyRefused(Answered, frozen=True, kw_only=True):
    """The reply of a listener was refused, by its own client or by the broker."""

    kind: ClassVar[str] = "reply-refused"
    node: ClassVar[str] = "worker"
    error: str
    code: int | None = None
    """RocketMQ's response code, if there was one."""
    exceptions: tuple[str, ...] = ()
    """The classes of what the client threw, outermost first."""


class LineOfNoMessage(Body, frozen=True, kw_only=True):
    """A program reports, as `sees` says, something that is no message of the run, or a status that isn't
    RocketMQ's; the first 100 of each.
    """

    kind: ClassVar[str] = "line-of-no-message"
    node: ClassVar[str] = "worker"
    line: str
    """Its first 200 characters."""
    reason: str


class ListenerError(Body, frozen=True, kw_only=True):
    """The listener itself failed: a defect of the harness."""

    kind: ClassVar[str] = "listener-error"
    node: ClassVar[str] = "worker"
    error: str


class QueueOffset(Queue, frozen=True, kw_only=True):
    """The new offset of a group in a queue."""

    offset: int


class OffsetsReset(Body, frozen=True, kw_only=True):
    """The group's offsets were set at the brokers, by `reset-offset`."""

    kind: ClassVar[str] = "offsets-reset"
    node: ClassVar[str] = "harness"
    group: str
    topic: str
    queues: tuple[QueueOffset, ...]
