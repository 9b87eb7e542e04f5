"""Numbers in the sentences of the report."""

from datetime import datetime

from rocketchaos.spark_reports.flakiness.cells import share


def part(hits: int, runs: int) -> str:
    """`17 of 20 as expected [0.64, 0.95]`."""
    known = share(hits, runs)
    interval = f" [{known[1]:.2f}, {known[2]:.2f}]" if known else ""
    return f"{hits:,} of {runs:,} as expected{interval}"


def rate(hits: int, runs: int) -> str:
    """A share, with two digits; `–` where there are no runs."""
    return f"{hits / runs:.2f}" if runs else "–"


def day(moment: datetime | None) -> str:
    """To the minute, UTC."""
    return f"{moment:%Y-%m-%d %H:%M}" if moment else "unknown"


def short(text: str, width: int = 160) -> str:
    """On one line, cut where it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"
