"""Lines of servers' logs among the events of a history. Pure."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from rocketchaos.harness.core.events.servers import LogLine
from rocketchaos.harness.core.model import Event

_ZONE_MS = 15 * 60 * 1000
"""Zones of time differ by quarters of an hour."""


def line_ms(event: Event[LogLine]) -> int | None:
    """When a `log-line` was written, as events' `wall_ms`; None if the line has no time.

    A log has the local time without its zone. The line is older than the event by which it was read, by less than
    a quarter of an hour: so the zone follows from the two.
    """
    text = event.body.time
    if not text:
        return None
    plain = text.replace(",", ".").replace("T", " ")
    form = "%Y-%m-%d %H:%M:%S.%f" if "." in plain else "%Y-%m-%d %H:%M:%S"
    naive_ms = round(datetime.strptime(plain, form).replace(tzinfo=UTC).timestamp() * 1000)
    zone_ms = math.ceil((naive_ms - event.wall_ms) / _ZONE_MS) * _ZONE_MS
    return naive_ms - zone_ms
