"""The table `findings`: what is not as it should be, each with a signature in which equal causes look equal.

That is an id where our own code tells the cause, whatever words it has for it. What RocketMQ and others say is
normalised text (`spark_reports.ingest.signature`), and so is what folders tell of before there were ids.

`outcome`   of runs that are not as expected, or that an error ended
`check`     of `also`, or of the section that should hold, where it was not seen to hold
`trouble`   what kept a run from being completed
`event`     workers that died and listeners that broke; of runs that are not as expected also refusals, sendings
            that nobody acknowledged, and looks that failed
`log`       errors and telling warnings in the logs of runs that are not as expected
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from rocketchaos.harness.core.model import SECTION_OF, Trouble
from rocketchaos.spark_reports.ingest.shape import shaped
from rocketchaos.spark_reports.ingest.signature import signature
from rocketchaos.spark_reports.tables import FINDINGS

PRODUCT, HARNESS, ENVIRONMENT = "product", "harness", "environment"
"""Whose behaviour a finding is of."""

SIDES = {
    # A state that RocketMQ was not seen to reach in time: what it did, and never the harness's doing.
    Trouble.PRECONDITION: PRODUCT,
    Trouble.USAGE: HARNESS,
    Trouble.ENVIRONMENT: ENVIRONMENT,
    Trouble.HARNESS: HARNESS,
    Trouble.INTERRUPTED: ENVIRONMENT,
}
"""By what kept the run from being completed."""

LONGEST = 500
"""Characters of a text."""

_EVENTS = {
    "worker-died": (ENVIRONMENT, "reason"),
    "listener-error": (HARNESS, "error"),
    "probe-failed": (HARNESS, "error"),
    "consumer-refused": (PRODUCT, "error"),
    "send-failed": (PRODUCT, "error"),
}
_ALWAYS = ("worker-died", "listener-error")


def findings(documents: DataFrame, story: DataFrame, logs: DataFrame) -> DataFrame:
    """The rows of the table.

    Args:
        documents: of the folders, with `record`, `verdict` and `checks`.
        story: the history, without the events of each message.
        logs: of `spark_reports.ingest.logs`.
    """
    rows = _outcomes(documents)
    for part in (_checks(documents), _troubles(story), _events(documents, story), logs):
        rows = rows.unionByName(part, allowMissingColumns=True)
    return (
        rows.withColumn("signature", fn.coalesce("cause", signature(fn.col("text"), fn.col("run"))))
        .withColumn("text", fn.substring("text", 1, LONGEST))
        .transform(shaped, FINDINGS)
    )


def not_as_it_should_be() -> Column:
    """Of documents: the run is not as expected, or an error ended it."""
    return fn.expr("coalesce(NOT verdict.as_expected, false) OR verdict.outcome = 'error'")


def side_of(trouble: Column) -> Column:
    """Whose behaviour it is, by the trouble of a run; product where there is none."""
    sides = fn.create_map(*(part for one in SIDES.items() for part in (fn.lit(str(one[0])), fn.lit(one[1]))))
    return fn.coalesce(fn.element_at(sides, trouble), fn.lit(PRODUCT))


def _row(
    kind: str, side: Column, node: Column, text: Column, numbers: Column, cause: Column | None = None
) -> list[str | Column]:
    return [
        "run_key",
        "run",
        "batch",
        fn.lit(kind).alias("kind"),
        side.alias("side"),
        node.alias("node"),
        text.alias("text"),
        (fn.lit(None).cast("string") if cause is None else cause).alias("cause"),
        fn.lit(1).cast("long").alias("occurrences"),
        numbers.cast("array<int>").alias("events"),
    ]


def _outcomes(documents: DataFrame) -> DataFrame:
    text = fn.concat(
        fn.col("verdict.outcome"),
        fn.coalesce(fn.concat(fn.lit(", expected "), "verdict.expected"), fn.lit("")),
        fn.lit(": "),
        fn.coalesce("verdict.reason", fn.lit("")),
    )
    cause = fn.concat(
        fn.lit("outcome "),
        fn.concat_ws(" ", "verdict.outcome", "verdict.trouble"),
        fn.coalesce(fn.concat(fn.lit(" expected "), "verdict.expected"), fn.lit("")),
    )
    wrong = documents.where(not_as_it_should_be())
    return wrong.select(
        *_row("outcome", side_of(fn.col("verdict.trouble")), fn.lit("harness"), text, fn.array(), cause)
    )


def _checks(documents: DataFrame) -> DataFrame:
    section = fn.create_map(
        *(part for one in SECTION_OF.items() for part in (fn.lit(str(one[0])), fn.lit(one[1])))
    )
    should = (fn.col("one.section") == "also") | fn.col("one.section").eqNullSafe(
        fn.element_at(section, fn.col("verdict.expected"))
    )
    text = fn.concat("one.name", fn.lit(": expected "), "one.expected", fn.lit("; observed "), "one.observed")
    return (
        documents.withColumn("one", fn.explode("checks.checks"))
        .where(should & (fn.col("one.holds") != "yes"))
        .select(
            *_row(
                "check",
                side_of(fn.col("verdict.trouble")),
                fn.lit("harness"),
                text,
                fn.coalesce("one.events", fn.array()),
                fn.concat(fn.lit("check "), "one.id", fn.lit(" holds "), "one.holds"),
            )
        )
    )


def _troubles(events: DataFrame) -> DataFrame:
    told = events.where("kind = 'trouble'")
    text = fn.concat_ws(": ", "data.trouble", "data.message")
    cause = fn.concat(fn.lit("trouble "), "data.trouble", fn.lit(" "), "data.cause")
    side = side_of(fn.col("data.trouble"))
    return told.select(*_row("trouble", side, fn.col("node"), text, fn.array("n"), cause))


def _events(documents: DataFrame, events: DataFrame) -> DataFrame:
    wrong = documents.where(not_as_it_should_be()).select("run_key", fn.lit(True).alias("wrong"))
    sides = fn.create_map(
        *(part for kind, (side, _) in _EVENTS.items() for part in (fn.lit(kind), fn.lit(side)))
    )
    text = fn.concat_ws(
        ": ",
        "kind",
        "data.probe",
        fn.when(fn.col("kind") == "worker-died", fn.col("data.reason")).otherwise(fn.col("data.error")),
    )
    return (
        events.where(fn.col("kind").isin(*_EVENTS))
        .join(fn.broadcast(wrong), "run_key", "left")
        .where(fn.col("kind").isin(*_ALWAYS) | fn.col("wrong"))
        .select(*_row("event", fn.element_at(sides, fn.col("kind")), fn.col("node"), text, fn.array("n")))
        .groupBy("run_key", "run", "batch", "kind", "side", "node", "text")
        .agg(
            fn.sum("occurrences").alias("occurrences"),
            fn.slice(fn.array_sort(fn.flatten(fn.collect_list("events"))), 1, 20).alias("events"),
        )
    )
