"""The behaviour of a consumer's listener."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from rocketchaos.harness.language.words import DurationMs, OneOrMore, Strict, WholeSecondsMs

ALL = "all"
_BARE: Mapping[str, dict[str, Any]] = {"succeed": {}, "block": {"block": ALL}}


class Behaviour(Strict):
    """What the listener does, default `succeed`; `block` alone blocks on every message.

    Keys can be combined: `{slow: 50ms, fail: 1}` takes 50 ms, and then fails; `{fail: 1, by: exception}` throws;
    `{fail: 1000, only: orders-3}` always fails on one message alone. A batch fails as a whole.
    """

    fail: int | None = Field(
        default=None,
        gt=0,
        description="this many deliveries of each message fail, counted over the group by the message's "
        "reconsumeTimes: concurrently RECONSUME_LATER, orderly SUSPEND_CURRENT_QUEUE_A_MOMENT",
    )
    by: Literal["status", "exception", "nothing", "retry-later"] = Field(
        default="status",
        description="with `fail`: how it fails. `status`: by what it returns; `exception`: it throws a "
        "RuntimeException; `nothing`: it returns no status. RocketMQ's Java client takes all three for the "
        "same status. With `exception` a concurrent listener of the Go client panics: from 2.1.2 on that client "
        "keeps the message, and never hands it over again; an older one, and an orderly one, ends its process, so "
        "`validate` refuses it there. `retry-later`: an orderly listener of the Go client returns "
        "ConsumeRetryLater, which is meant for concurrent ones",
    )
    block: OneOrMore[str] | None = Field(
        default=None,
        description="it blocks on the messages with these keys, `orders-1` for the first one sent to orders, or "
        "to `all`, until a `release` step",
    )
    slow: DurationMs | None = Field(default=None, gt=0, description="it takes this long for each message")
    reply: bool = Field(
        default=False,
        description="it replies to each message that doesn't fail, before it returns, by "
        "MessageUtil.createReplyMessage and its client's own producer, as RocketMQReplyListener of Spring does; "
        "for `send: {request: 3s}`. RocketMQ refuses a reply to a message that is no request",
    )
    auto_commit: bool = Field(
        default=True,
        description="`false`: it commits by itself (`commit`); Java's client alone. With `api: lite-pull` it "
        "calls setAutoCommit(false), with `api: pull` no updateConsumeOffset. An orderly listener calls "
        "ConsumeOrderlyContext.setAutoCommit(false) each time: SUCCESS commits nothing then, the message stays in "
        "the client's cache, and the offset stands still",
    )
    commit: OneOrMore[str] | None = Field(
        default=None,
        description="with `auto_commit: false`: the keys of the messages after which it commits all that it has "
        "got so far: `orders-4`, or `all`; default: it never commits. An orderly listener returns COMMIT, for its "
        "queue; `api: lite-pull` calls commitSync(), for all queues; `api: pull` updateConsumeOffset, for its "
        "queue",
    )
    change_invisible: WholeSecondsMs | None = Field(
        default=None,
        ge=1000,
        le=60_000,
        description="with `api: simple`: it calls changeInvisibleDuration with this for each message, in whole "
        "seconds, before it is slow, fails or acks",
    )
    only: OneOrMore[str] | None = Field(
        default=None,
        description="with `fail`, `slow` and `change_invisible`: only the messages with these keys, `orders-1` "
        "for the first one sent to orders",
    )

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        if isinstance(value, str):
            if value not in _BARE:
                raise ValueError(
                    f"a listener may `succeed` or `block`, or do `{{fail: 2}}`, `{{block: [orders-1]}}`, "
                    f"`{{slow: 50ms}}`; it can't `{value[:40]}`"
                )
            return _BARE[value]
        return value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string", "enum": list(_BARE)}, handler(core_schema)]}

    @model_validator(mode="after")
    def _by_with_fail(self) -> Behaviour:
        if self.by != "status" and self.fail is None:
            raise ValueError(f"`by: {self.by}` says how it fails: add `fail`, the number of deliveries")
        if self.only is not None and (self.fail, self.slow, self.change_invisible) == (None, None, None):
            raise ValueError(
                "`only` says which messages fail or are slow: add `fail`, `slow` or `change_invisible`"
            )
        if self.commit is not None and self.auto_commit:
            raise ValueError("`commit` says what it commits by itself: add `auto_commit: false`")
        return self

    @property
    def blocks(self) -> str | tuple[str, ...]:
        """The keys of the messages on which it blocks, or `all`."""
        return _keys(self.block)

    @property
    def commits(self) -> str | tuple[str, ...]:
        """The keys of the messages for which it returns COMMIT, or `all`."""
        return _keys(self.commit)


def _keys(said: tuple[str, ...] | None) -> str | tuple[str, ...]:
    """The keys of messages, or `all`."""
    return ALL if said is not None and ALL in said else said or ()
