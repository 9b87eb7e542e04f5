"""Messages that a broker's timer doesn't take, or doesn't hand out in time (5.x)."""

from collections.abc import Iterator
from dataclasses import dataclass

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.checks.cluster import now_ms
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Evidence, Found
from rocketchaos.harness.diagnose.model import REVIVE, Timer
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import ClusterView
from rocketchaos.harness.diagnose.words import clock, counted

LATE_S = 30
"""A broker's timer takes a message at once, and hands it out within a second of its time; its clock may differ."""
_OF_POPPED = (
    "Messages that a member popped and didn't acknowledge come to no other member until the broker's timer works "
    "again: no lag shows them. Messages with a delay of their own wait in the same timer."
)
_DELAYED = (
    "They reach no consumer until the broker's timer works again. The same timer brings back popped messages that "
    "nobody acknowledges: they stay away too, and no lag shows them."
)


@dataclass(frozen=True, slots=True)
class _Late:
    """A message that the timer hasn't taken."""

    exchange: Exchange
    stored_ms: int
    late_s: float
    popped: bool
    """It is the entry of a popped message."""


def timed(view: ClusterView) -> Iterator[Found]:
    """Timers that are late with delayed messages."""
    for name, timer in _timers(view):
        for item in _late(view, name, timer):
            if not item.popped:
                yield _not_taken(view, name, timer, item)
        late_s = read.runtime_number(timer.state, read.TIMER_LATE)
        held = read.runtime_number(timer.state, read.TIMER_HOLDS)
        if late_s > LATE_S and held:
            yield Found(
                f"the timer of {name} is {late_s} s late, and holds {counted(held, 'message')}",
                (Evidence(timer.state, f"timerReadBehind {late_s}, timerCongestNum {held}"),),
                effect=_DELAYED,
                settled=False,
                key=name,
            )


def popped(view: ClusterView) -> Iterator[Found]:
    """Timers that don't take the entries of popped messages."""
    for name, timer in _timers(view):
        for item in _late(view, name, timer):
            if item.popped:
                yield _not_taken(view, name, timer, item)


def silent(timer: Timer) -> Iterator[Exchange]:
    """What a broker left open about its timer."""
    asked = (timer.state, timer.ends, timer.entries, *timer.messages)
    yield from (item for item in asked if item is not None and not item.succeeded)


def _timers(view: ClusterView) -> Iterator[tuple[str, Timer]]:
    for name, backlog in view.now.backlogs.items():
        if backlog.timer is not None:
            yield name, backlog.timer


def _late(view: ClusterView, broker: str, timer: Timer) -> list[_Late]:
    found = []
    for exchange in timer.messages:
        said = read.mapping(exchange.document)
        stored_ms = whole(said.get("storedAt"))
        late_s = (now_ms(view, broker, exchange) - stored_ms) / 1000
        if stored_ms and late_s > LATE_S:
            found.append(_Late(exchange, stored_ms, late_s, str(said.get("topic")).startswith(REVIVE)))
    return found


def _not_taken(view: ClusterView, name: str, timer: Timer, first: _Late) -> Found:
    behind = read.runtime_number(timer.state, read.TIMER_BEHIND)
    stopped = view.now.brokers[name].config.get("timerStopEnqueue") == "true"
    what = "entries of popped messages" if first.popped else "delayed messages"
    return Found(
        f"the timer of {name} takes no {what}{': timerStopEnqueue is true' if stopped else ''}; "
        f"{counted(behind, 'message')} {'waits' if behind == 1 else 'wait'} for it, one for {first.late_s:.0f} s",
        (
            Evidence(timer.state, f"timerOffsetBehind {behind}"),
            Evidence(first.exchange, f"stored at {clock(first.stored_ms)}"),
        ),
        effect=_OF_POPPED if first.popped else _DELAYED,
        settled=False,
        key=name,
    )
