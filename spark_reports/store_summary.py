"""What is in a store, as every report shows it."""

from collections.abc import Mapping
from datetime import datetime

from rocketchaos.spark_reports.places import Place
from rocketchaos.spark_reports.report import StoreSummary
from rocketchaos.spark_reports.session import Session
from rocketchaos.spark_reports.store_views import statements
from rocketchaos.spark_reports.times import in_utc

_COUNTS = """\
SELECT count(*) AS runs, coalesce(sum(message_count), 0) AS messages,
       count(DISTINCT scenario) AS scenarios, count(DISTINCT host) AS hosts,
       min(started) AS first_run, max(started) AS last_run,
       count_if(started IS NULL OR abs(clock_jump_ms) >= 1000) AS clock_jumps
FROM runs"""
_KINDS = "SELECT kind, count(*) AS folders FROM quarantine GROUP BY kind ORDER BY kind"
_NEWEST = "SELECT source, reason FROM quarantine ORDER BY found DESC, source LIMIT 20"


def summary_of(
    session: Session, place: Place, versions: Mapping[str, int], kept_since: datetime | None
) -> StoreSummary:
    """What is in the views of a store.

    Args:
        versions: by table, the version of Delta that the views show.
        kept_since: older runs were removed.
    """
    [counts] = session.sql(_COUNTS).collect()
    reasons = {str(row.kind): int(row.folders) for row in session.sql(_KINDS).collect()}
    newest = session.sql(_NEWEST).collect() if reasons else []
    return StoreSummary(
        uri=place.uri,
        runs=int(counts.runs),
        messages=int(counts.messages),
        scenarios=counts.scenarios,
        hosts=counts.hosts,
        first=in_utc(counts.first_run),
        last=in_utc(counts.last_run),
        quarantined=sum(reasons.values()),
        quarantine_reasons=reasons,
        clock_jumps=int(counts.clock_jumps),
        kept_since=kept_since,
        versions=versions,
        views=statements(place, versions),
        quarantine_newest=[f"{row.source}: {row.reason}" for row in newest],
    )
