"""The figures of the report."""

from collections.abc import Sequence

from rocketchaos.spark_reports.queries import queries
from rocketchaos.spark_reports.render.figures.timers import Quantiles, quantile_ranges
from rocketchaos.spark_reports.report import Figure
from rocketchaos.spark_reports.timing.deciders import WHATS, duration
from rocketchaos.spark_reports.timing.read import Measured

MOST_ROWS = 24


def range_figures(measured: Sequence[Measured], what: str) -> list[Figure]:
    """One for each timing: p50 to the maximum by client and version, and the timers as lines."""
    made = []
    for timing in sorted({item.side.timing for item in measured if item.what == what}):
        # If there are very many rows, the figure shows the worst, in their usual order.
        every = [item for item in measured if item.what == what and item.side.timing == timing]
        places = sorted(
            range(len(every)), key=lambda place: (not every[place].beyond, not every[place].perhaps_beyond)
        )
        rows = [every[place] for place in sorted(places[:MOST_ROWS])]
        timers = {str(decider): float(decider.ms) for row in rows for decider in row.deciders}
        made.append(
            Figure(
                f"{what}-{timing}",
                f"{WHATS[what].title}, {timing}",
                "From the median to the longest that was seen, by client and version of RocketMQ. The dashed "
                "lines are the timers that may have to run out."
                + ("" if timers else " The timers of these runs are unknown.")
                + (f" {len(rows)} of {len(every)} rows of the table." if len(rows) < len(every) else ""),
                quantile_ranges([_range(row, rows) for row in rows], timers),
                queries("timing_histograms"),
            )
        )
    return made


def _range(measured: Measured, rows: Sequence[Measured]) -> Quantiles:
    also: tuple[str, ...] = (
        ("noticed late",) if measured.unnoticed else ("with faults",) if measured.with_faults else ()
    )
    if sum((other.side, other.unnoticed) == (measured.side, measured.unnoticed) for other in rows) > 1:
        also += ("limit unknown" if measured.limit_ms is None else f"limit {duration(measured.limit_ms)}",)
    p50, p90, p99 = (measured.took.percentile(share).value for share in (0.5, 0.9, 0.99))
    return Quantiles(
        (f"{measured.side.client} {measured.side.rocketmq}", *also),
        p50,
        p90,
        p99,
        measured.took.at_rank(measured.took.total),
        measured.intervals,
    )
