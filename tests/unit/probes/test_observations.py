"""What of the observations of the same thing is written down."""

from __future__ import annotations

from rocketchaos.harness.core.history import History
from rocketchaos.harness.probes.observations import Observations

MS = 1_000_000


def test_a_look_that_shows_nothing_new_is_not_reported_and_yet_bounds_the_next_change() -> None:
    last = Observations(History("run"))
    assert last.change("offsets", {"offset": 0}, None, 0, 10 * MS) == {"offset": 0}
    assert last.change("offsets", {"offset": 0}, None, 860 * MS, 900 * MS) is None
    # The answer of the look before came after 900 ms: what it showed may have changed from 860 ms on.
    shown = last.change("offsets", {"offset": 2}, None, 950 * MS, 1_000 * MS)
    assert shown == {"offset": 2, "look_began_before_ms": 140.0}


def test_a_moment_is_reported_whatever_it_shows() -> None:
    last = Observations(History("run"))
    last.change("offsets", {"offset": 2}, None, 0, 0)
    shown = last.change("offsets", {"offset": 2}, "end", 40 * MS, 50 * MS)
    assert shown == {"offset": 2, "moment": "end", "look_began_before_ms": 50.0}
    assert last.change("offsets", {"offset": 2}, None, 60 * MS, 60 * MS) is None


def test_things_are_looked_at_apart() -> None:
    last = Observations(History("run"))
    last.change("offsets", {"offset": 2}, None, 0, 0)
    assert last.change("ownership", {"offset": 2}, None, MS, MS) == {"offset": 2}
