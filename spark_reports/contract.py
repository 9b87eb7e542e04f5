"""The documents of a run folder, as Spark reads them: every column explicitly, nothing inferred.

See `harness.core.run_folder` for the folder and `harness.core.events` for the kinds of events. What no reader of
facts needs is not here; Spark's parser skips it. A line or a document that is no JSON, or that has another type
where one of these fields is, leaves its text in the column `CORRUPT` (mode PERMISSIVE).
"""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
)

from rocketchaos.spark_reports.schema import schema

CORRUPT = "corrupt"
"""The column of what could not be read."""

_TEXT, _INT, _LONG, _DOUBLE, _BOOL = StringType(), IntegerType(), LongType(), DoubleType(), BooleanType()
_TEXTS, _INTS = ArrayType(StringType()), ArrayType(IntegerType())


_LOAD = schema(average_1min=_DOUBLE)

RUN = schema(
    schema_version=_INT,
    run=_TEXT,
    scenario=_TEXT,
    title=_TEXT,
    seed=_LONG,
    timing=_TEXT,
    timers_ms=MapType(_TEXT, _LONG),
    rocketmq=_TEXT,
    client=_TEXT,
    client_version=_TEXT,
    clients=MapType(_TEXT, _TEXT),
    workers=_TEXT,
    cluster=schema(kind=_TEXT, shared=_BOOL, start_attempts=_INT),
    ended=_TEXT,
    seconds=_DOUBLE,
    load=schema(start=_LOAD, end=_LOAD, busy_share=_DOUBLE),
    parallel=schema(limit=_DOUBLE, weight=_DOUBLE, beside=_INT, waited_s=_DOUBLE),
    phases=MapType(_TEXT, _DOUBLE),
    versions=schema(rocketchaos=_TEXT, python=_TEXT, java=_INT),
    host=schema(
        name=_TEXT,
        system=_TEXT,
        processors=_INT,
        memory_mib=_LONG,
        free_memory_mib=_LONG,
        free_disk_mib=_LONG,
        load=ArrayType(_DOUBLE),
    ),
)
"""`run.json`."""

OUTCOME = schema(
    schema_version=_INT,
    outcome=_TEXT,
    expected=_TEXT,
    as_expected=_BOOL,
    reason=_TEXT,
    trouble=_TEXT,
)
"""`outcome.json`."""

CHECKS = schema(
    schema_version=_INT,
    checks=ArrayType(
        schema(
            section=_TEXT,
            id=_TEXT,
            name=_TEXT,
            holds=_TEXT,
            expected=_TEXT,
            observed=_TEXT,
            events=_INTS,
            claim=_TEXT,
            line=_INT,
        )
    ),
)
"""`checks.json`."""

MESSAGE = schema(
    schema_version=_INT,
    group=_TEXT,
    topic=_TEXT,
    key=_TEXT,
    tag=_TEXT,
    queue=_TEXT,
    offset=_LONG,
    owner=_TEXT,
    subscription=_TEXT,
    message_class=_TEXT,
    deliveries=_TEXTS,
    reason=_TEXT,
    events=_INTS,
)
"""A line of `messages.jsonl`."""

QUEUES = ArrayType(
    schema(topic=_TEXT, broker=_TEXT, queue_id=_INT, max_offset=_LONG, consumer_offset=_LONG, offset=_LONG)
)
"""What `queues` is in the data of `offsets-observed`, `ownership-observed` and `offsets-reset`."""

DATA = schema(
    topic=_TEXT,
    key=_TEXT,
    tag=_TEXT,
    status=_TEXT,
    broker=_TEXT,
    queue_id=_INT,
    queue_offset=_LONG,
    offset=_LONG,
    reconsume_times=_INT,
    group=_TEXT,
    consumer=_TEXT,
    client_id=_TEXT,
    client=_TEXT,
    client_version=_TEXT,
    api=_TEXT,
    moment=_TEXT,
    look_began_before_ms=_DOUBLE,
    look_before_ms=_DOUBLE,
    online=_BOOL,
    clients=_TEXTS,
    # {topic: what is held for it}; of `consumer-starting`, where it is `subscribe`, what it wants
    subscriptions=MapType(_TEXT, schema(expression=_TEXT, type=_TEXT, sub_version=_LONG)),
    subscribe=MapType(_TEXT, _TEXT),
    expression=_TEXT,
    # Its type depends on the kind, so that it stays JSON here: a list (see QUEUES), a number, or a word.
    queues=_TEXT,
    tracks=MapType(_TEXT, _TEXT),
    fault=_TEXT,
    target=_TEXT,
    sides=_TEXTS,
    proof=_TEXT,
    trouble=_TEXT,
    message=_TEXT,
    probe=_TEXT,
    error=_TEXT,
    reason=_TEXT,
    code=_INT,
    scenario=_TEXT,
    condition=_TEXT,
    condition_id=_TEXT,
    subject=_TEXT,
    cause=_TEXT,
    took_ms=_DOUBLE,
    step=_TEXT,
    index=_INT,
)
"""`data` of an event: fields of all kinds, of which an event has those of its own."""

EVENT = schema(
    schema_version=_INT,
    n=_INT,
    mono_ns=_LONG,
    wall_ms=_LONG,
    run=_TEXT,
    node=_TEXT,
    kind=_TEXT,
    data=DATA,
)
"""A line of `events.jsonl`."""
