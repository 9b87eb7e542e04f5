"""The message trace of a consumer: what a client with trace switched on writes about the calls of its listener.

After `TraceDataEncoder.encoderFromContextBean` and `ConsumeMessageTraceHookImpl` (4.9.4 and 5.5.0): a body has
many records. One says that the listener is called (SubBefore), another how it has returned (SubAfter).
"""

from collections.abc import Iterator
from dataclasses import dataclass

TRACE_TOPIC = "RMQ_SYS_TRACE_TOPIC"
"""TopicValidator.RMQ_SYS_TRACE_TOPIC: with traceTopicEnable each broker has it, with one queue."""
TRACE_QUEUE = 0
_FIELD_END, _RECORD_END = "\x01", "\x02"
_BEFORE, _AFTER = "SubBefore", "SubAfter"
_BEFORE_FIELDS, _AFTER_FIELDS = 8, 6


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One record of a listener's call with one message."""

    returned: bool
    """SubAfter; otherwise SubBefore."""
    request_id: str
    """Common to both records of a call."""
    msg_id: str
    """The id that the producer's client gave the message."""
    keys: str
    """KEYS."""
    group: str = ""
    """The consumer group; empty: the record doesn't have it, as a SubAfter of some clients."""
    succeeded: bool = False
    """Of a SubAfter: the listener returned success."""


def decode_trace(text: str) -> Iterator[TraceRecord]:
    """The records of listeners' calls in the body of an entry of the trace topic; others are left out.

    Raises:
        ValueError: a record has fewer fields than it must have.
    """
    for record in text.split(_RECORD_END):
        fields = record.split(_FIELD_END)
        if fields[0] == _BEFORE:
            _require(fields, _BEFORE_FIELDS)
            yield TraceRecord(False, fields[4], fields[5], fields[7], fields[3])
        elif fields[0] == _AFTER:
            _require(fields, _AFTER_FIELDS)
            group = fields[8] if len(fields) > 8 else ""
            yield TraceRecord(True, fields[1], fields[2], fields[5], group, fields[4] == "true")


def _require(fields: list[str], count: int) -> None:
    if len(fields) < count:
        raise ValueError(f"a trace record {fields[0]} has {len(fields)} fields, and needs {count}")
