"""The tables of the store: their columns, explicitly, and what each holds.

One row of `runs` is one run; every other table has facts of runs and names the run by `run_key`. A fact counts
only where its `run_key` is in `runs`: an ingest writes the facts first and the rows of `runs` last, in one
transaction, so that an ingest under way, or one that was broken off, shows nothing. Every query therefore joins
`runs`.

Times within a run are milliseconds on CLOCK_MONOTONIC since its first event, so that a wall clock that jumps
changes none of them. `n` and `events` are numbers of lines of the run's `events.jsonl`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampType,
)

from rocketchaos.spark_reports.schema import schema

STORE_VERSION = 3
"""Version of the tables. A store says which it has; another one is migrated, or refused."""

_TEXT, _INT, _LONG, _DOUBLE, _BOOL = StringType(), IntegerType(), LongType(), DoubleType(), BooleanType()
_TIME, _TEXTS, _INTS = TimestampType(), ArrayType(StringType(), False), ArrayType(IntegerType(), False)


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the store."""

    name: str
    says: str
    schema: StructType

    @property
    def columns(self) -> tuple[str, ...]:
        """Names, in order."""
        return tuple(self.schema.fieldNames())


def _facts(**columns: DataType) -> StructType:
    return schema(run_key=_LONG, run=_TEXT, batch=_TEXT, **columns)


RUNS = Table(
    "runs",
    "One row per run: what was run, where, and how it ended.",
    schema(
        # identity
        run_key=_LONG,  # xxhash64(run, batch): joins the facts
        run=_TEXT,  # the harness's own id of the run, unique over all machines
        batch=_TEXT,  # the ingest that wrote its facts
        source=_TEXT,  # URI of the run folder
        digest=_TEXT,  # of the folder's content: a run judged anew has another, and replaces the older row
        listing=_TEXT,  # of its files' names, sizes and times: what is listed alike is not read again
        judged=_TIME,  # when its outcome was last written: of two copies of a run the later one counts
        ingested=_TIME,
        # the cell: what is compared
        scenario=_TEXT,
        client=_TEXT,  # `java`, `python`, `grpc`, `java+python`; with its version where that isn't the brokers'
        rocketmq=_TEXT,
        cluster=_TEXT,  # `embedded` or `containers`
        timing=_TEXT,  # `compressed` or `faithful`
        # how it was run
        title=_TEXT,
        seed=_LONG,
        client_version=_TEXT,
        workers=_TEXT,
        harness_version=_TEXT,
        java_version=_INT,
        host=_TEXT,  # name of the machine, or its system where the folder names none
        processors=_INT,
        memory_mib=_LONG,
        timers_ms=MapType(
            StringType(), LongType(), True
        ),  # RocketMQ's timers in this run; null in old folders
        # when
        started=_TIME,  # wall clock of the first event; impossible ones read as null (`spark_reports.store_views`)
        ended=_TIME,
        seconds=_DOUBLE,
        clock_jump_ms=_LONG,  # how far the wall clock left the monotonic one within the run
        # how it ended
        outcome=_TEXT,
        expected=_TEXT,  # null: only measured
        as_expected=_BOOL,  # null: only measured
        reason=_TEXT,
        trouble=_TEXT,  # `precondition`, `usage`, `environment`, `harness`, `interrupted`, or null
        # how busy the machine was
        load_start=_DOUBLE,
        load_end=_DOUBLE,
        busy_share=_DOUBLE,
        beside=_INT,  # other runs at the same time
        # how much there is
        event_count=_LONG,
        message_count=_LONG,
    ),
)

MESSAGES = Table(
    "messages",
    "One row per message and group: what became of it, by the oracle, and what the witnesses say of it.",
    _facts(
        consumer_group=_TEXT,
        topic=_TEXT,
        message_key=_TEXT,
        tag=_TEXT,
        queue=_TEXT,  # `<broker>:<queue id>`
        queue_offset=_LONG,
        owner=_TEXT,
        subscription=_TEXT,  # the expression that the broker held
        message_class=_TEXT,  # see harness.core.model.MessageClass
        deliveries=_TEXTS,  # members whose listener got it, in order of time
        # From its acknowledgement to the producer, or the group's first start if later, to the first delivery;
        # null: none.
        delivery_ms=_DOUBLE,
        broker_track=_TEXT,  # TrackType by the broker's tools, as last seen
        dashboard_track=_TEXT,  # TrackType by the dashboard, as last seen
        reason=_TEXT,
        events=_INTS,
    ),
)

SUBSCRIPTIONS = Table(
    "subscriptions",
    "One row per change of what a broker held for a group and topic, the first sight included.",
    _facts(
        n=_INT,
        at_ms=_DOUBLE,
        consumer_group=_TEXT,
        broker=_TEXT,
        topic=_TEXT,
        expression=_TEXT,  # null: no longer held
        expression_type=_TEXT,
        sub_version=_LONG,
        previous_expression=_TEXT,
        members=_INT,
    ),
)

OWNERSHIP = Table(
    "ownership",
    "One row per change of the queues of a topic that a member had, the first sight included.",
    _facts(
        n=_INT,
        at_ms=_DOUBLE,
        consumer_group=_TEXT,
        consumer=_TEXT,
        topic=_TEXT,
        queues=_TEXTS,
        previous_queues=_TEXTS,
    ),
)

OFFSETS = Table(
    "offsets",
    "One row per queue and look at a group's offsets.",
    _facts(
        n=_INT,
        at_ms=_DOUBLE,
        moment=_TEXT,
        consumer_group=_TEXT,
        topic=_TEXT,
        queue=_TEXT,
        max_offset=_LONG,
        consumer_offset=_LONG,  # null: the broker has none
    ),
)

FAULTS = Table(
    "faults",
    "One row per fault injected.",
    _facts(
        n=_INT,
        fault=_TEXT,
        target=_TEXT,
        injected_ms=_DOUBLE,
        effective_ms=_DOUBLE,  # null: no effect was seen
        healed_ms=_DOUBLE,
        proof=_TEXT,
    ),
)

CHECKS = Table(
    "checks",
    "One row per check of the scenario: what was expected, and what was seen.",
    _facts(
        position=_INT,  # in checks.json, from 0
        section=_TEXT,
        id=_TEXT,  # what it states, whatever its name says; null in folders of before checks had ids
        name=_TEXT,
        holds=_TEXT,  # `yes`, `no`, `unknown`
        expected=_TEXT,
        observed=_TEXT,
        claim=_TEXT,
        line=_INT,
        events=_INTS,
    ),
)

FINDINGS = Table(
    "findings",
    "One row per thing that is not as it should be, in a form in which equal causes look equal.",
    _facts(
        kind=_TEXT,  # `outcome`, `check`, `trouble`, `event`, `log`
        side=_TEXT,  # `product`, `harness`, `environment`
        node=_TEXT,
        text=_TEXT,
        signature=_TEXT,  # an id of the cause; where there is none, the text without what differs from run to run
        occurrences=_LONG,
        events=_INTS,
    ),
)

TIMINGS = Table(
    "timings",
    "One row per interval that RocketMQ's timers decide, delivery apart, which `messages` has. What ended it was "
    "seen by a look: it took at least `at_least_ms`, when the look before was begun, which saw nothing yet, and "
    "at most `ms`.",
    _facts(
        what=_TEXT,  # `rebalance`, `subscription-flip`, `offset-correction`
        cause=_TEXT,  # the kind of event, or of fault, that began it
        consumer_group=_TEXT,
        subject=_TEXT,  # the member, or the broker and the topic, or the queue and the topic
        ms=_DOUBLE,
        at_least_ms=_DOUBLE,
        seen_by=_TEXT,  # `settled`: and it was as it should be; `look`: that it had changed
        from_n=_INT,
        to_n=_INT,
    ),
)

CONDITIONS = Table(
    "conditions",
    "One row per run and measured condition that may go with its outcome.",
    _facts(
        name=_TEXT,  # `start_gap_ms`, `load_start`, `busy_share`, `beside`, `fault_offset_ms`, ...
        value=_DOUBLE,
    ),
)

COPY = "copy"
"""A kind that is no problem, and in no view: another folder has the same run, and counts. It is kept so that the
folder isn't read again at each ingest."""

QUARANTINE = Table(
    "quarantine",
    "One row per run folder that could not be ingested, with the reason; gone once it could, or is gone itself.",
    schema(
        source=_TEXT,
        host=_TEXT,  # on whose disk it is; null: where every machine sees it
        digest=_TEXT,
        listing=_TEXT,  # null: to be read again however it is listed
        run=_TEXT,  # where its run.json tells
        scenario=_TEXT,
        # `missing-file`, `broken-json`, `other-schema`, `truncated`, `still-running`, `contradiction`, `gone`,
        # or COPY
        kind=_TEXT,
        file=_TEXT,
        line=_LONG,
        reason=_TEXT,  # one sentence, with the way out
        batch=_TEXT,
        found=_TIME,
    ),
)

FACTS: tuple[Table, ...] = (
    MESSAGES,
    SUBSCRIPTIONS,
    OWNERSHIP,
    OFFSETS,
    FAULTS,
    CHECKS,
    FINDINGS,
    TIMINGS,
    CONDITIONS,
)
"""Every table that has facts of runs. A new one is registered here."""

TABLES: Mapping[str, Table] = MappingProxyType({item.name: item for item in (RUNS, *FACTS, QUARANTINE)})
"""By name."""
