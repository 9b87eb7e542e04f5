"""PULL_MESSAGE (11) as a raw request: what the broker itself answers, before any client makes something of it."""

import time
from dataclasses import dataclass

from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.remoting import Answer
from rocketchaos.harness.rocketmq.stored_messages import PulledMessage, decode

PULL_MESSAGE = 11
GET_MAX_OFFSET = 30
_SUSPEND, _SUBSCRIPTION = 2, 4
"""Bits of PullSysFlag."""
_ANSWER_LIMIT_S = 5.0
_LONGEST_HOLD_OVER_S = 10.0
"""PullRequestHoldService looks at what it holds every 5 s, so that an answer comes later than was asked for."""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """What is asked; topic and group by their real names."""

    group: str
    topic: str
    queue_id: int
    offset: int
    max_messages: int
    own_expression: str | None
    """None: the broker takes the group's stored filter."""
    expression_type: str
    sub_version: int
    suspend_ms: int
    """0: answered at once."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """What was answered. The offsets are None if the broker says none, as with an error."""

    code: int
    remark: str
    next_offset: int | None
    min_offset: int | None
    max_offset: int | None
    messages: tuple[PulledMessage, ...]
    took_ms: float


def pull(address: str, request: PullRequest) -> Pulled:
    """Ask once, over a connection of its own; nothing is committed.

    Raises:
        OSError: no connection, or no answer within 5 s (held: 10 s more than was asked for).
        ValueError: the answer's messages can't be read.
    """
    flags = (_SUSPEND if request.suspend_ms else 0) | (0 if request.own_expression is None else _SUBSCRIPTION)
    fields = {
        "consumerGroup": request.group,
        "topic": request.topic,
        "queueId": str(request.queue_id),
        "queueOffset": str(request.offset),
        "maxMsgNums": str(request.max_messages),
        "sysFlag": str(flags),
        "commitOffset": "0",
        "suspendTimeoutMillis": str(request.suspend_ms),
        "subVersion": str(request.sub_version),
        "expressionType": request.expression_type,
    }
    if request.own_expression is not None:
        fields["subscription"] = request.own_expression
    limit_s = request.suspend_ms / 1000 + _LONGEST_HOLD_OVER_S if request.suspend_ms else _ANSWER_LIMIT_S
    begin_s = time.monotonic()
    answer = remoting.ask(address, PULL_MESSAGE, fields, limit_s=limit_s)
    took_ms = (time.monotonic() - begin_s) * 1000
    return Pulled(
        code=answer.code,
        remark=answer.remark,
        next_offset=_number(answer, "nextBeginOffset"),
        min_offset=_number(answer, "minOffset"),
        max_offset=_number(answer, "maxOffset"),
        messages=tuple(decode(answer.body)) if answer.code == remoting.SUCCESS else (),
        took_ms=round(took_ms, 1),
    )


def end_of_queue(address: str, topic: str, queue_id: int) -> int:
    """The queue's end, as far as its consume queue has got (GET_MAX_OFFSET, 30); 0 where the broker has none.

    Raises:
        OSError: no connection, or no answer within 3 s.
    """
    answer = remoting.ask(address, GET_MAX_OFFSET, {"topic": topic, "queueId": str(queue_id)})
    return _number(answer, "offset") or 0


def _number(answer: Answer, field: str) -> int | None:
    value = answer.fields.get(field)
    return None if value is None else int(value)
