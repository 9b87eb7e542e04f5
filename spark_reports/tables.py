"""The tables of the store: their columns, explicitly, and what each holds.

One row of `runs` is one run; every other table has facts of runs and names the run by `run_key`. A fact counts
only where its `run_key` is in `runs`: an ingest writes the facts first and the rows of `runs` last, in one
transaction, so that an ingest under way, or one that was broken off, shows nothing. Every query therefore joins
`runs`.

Times within a run are milliseconds on CLOCK_MONOTONIC since its first event, so that a wall clock that jumps
changes none of them. `n` and `events` are numbers of lines of the run's `events.jsonl`. Most tables have the
fields of a kind of fact, described where its type is: `harness.facts.kinds`, and `docs/facts.md`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql.types import DataType, LongType, StringType, StructType, TimestampType

from rocketchaos.harness.facts.kinds import (
    CheckFact,
    ConditionFact,
    Fact,
    FaultFact,
    FindingFact,
    MessageLine,
    OffsetFact,
    OwnershipFact,
    RunFact,
    SubscriptionFact,
    TimingFact,
)
from rocketchaos.spark_reports.spark_schema import columns_of, schema

STORE_VERSION = 4
"""Version of the tables. A store says which it has; another one is migrated, or refused."""

_TEXT, _LONG, _TIME = StringType(), LongType(), TimestampType()


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the store."""

    name: str
    says: str
    schema: StructType
    kind: type[Fact] | None = None
    """The kind of fact that a row is; None: it is more than that."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names, in order."""
        return tuple(self.schema.fieldNames())


def _facts(**columns: DataType) -> StructType:
    return schema(run_key=_LONG, run=_TEXT, batch=_TEXT, **columns)


STORED_AS = {"group": "consumer_group", "key": "message_key", "offset": "queue_offset"}
"""Fields of a line of `messages.jsonl` that have another name in the table."""
_IN_TIME = {"started_wall_ms": "started", "ended_wall_ms": "ended"}
"""Fields of `RunFact` that are times in the table."""

RUNS = Table(
    "runs",
    "One row per run: what was run, where, and how it ended.",
    schema(
        run_key=_LONG,  # xxhash64(run, batch): joins the facts
        run=_TEXT,  # the harness's own id of the run, unique over all machines
        batch=_TEXT,  # the ingest that wrote its facts
        source=_TEXT,  # URI of the run folder
        digest=_TEXT,  # of the folder's content: a run judged again has another, and replaces the older row
        listing=_TEXT,  # of its files' names, sizes and times: what is listed alike is not read again
        judged=_TIME,  # when its outcome was last written: of two copies of a run the later one counts
        ingested=_TIME,
        # What follows is in `RunFact`. Impossible times read as null (`spark_reports.store_views`).
        **{
            _IN_TIME.get(name, name): _TIME if name in _IN_TIME else column
            for name, column in columns_of(RunFact).items()
            if name != "run"
        },
    ),
    RunFact,
)

MESSAGES = Table(
    "messages",
    "One row per message and group: what became of it, by the oracle, and what the witnesses say of it.",
    _facts(
        **{
            STORED_AS.get(name, name): column
            for name, column in columns_of(MessageLine).items()
            if name != "schema_version"
        }
    ),
)


def _of(name: str, kind: type[Fact]) -> Table:
    """A table that has what the facts of this kind have."""
    says = " ".join((kind.__doc__ or "").split())
    return Table(name, f"One row per{says.removeprefix('One for each')}", _facts(**columns_of(kind)), kind)


SUBSCRIPTIONS = _of("subscriptions", SubscriptionFact)
OWNERSHIP = _of("ownership", OwnershipFact)
OFFSETS = _of("offsets", OffsetFact)
FAULTS = _of("faults", FaultFact)
CHECKS = _of("checks", CheckFact)
FINDINGS = _of("findings", FindingFact)
TIMINGS = _of("timings", TimingFact)
CONDITIONS = _of("conditions", ConditionFact)

COPY = "copy"
"""A kind that is no problem, and in no view: another folder has the same run, and counts. It is kept so that the
folder isn't read again at each ingest."""
AGED = "aged"
"""A kind that is no problem, and in no view: the run is older than what the store keeps, and isn't read again."""

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
        # COPY or AGED
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

TABLES: Mapping[str, Table] = {item.name: item for item in (RUNS, *FACTS, QUARANTINE)}
"""By name."""
