"""Small plots, one a queue: where the broker's queue ends, and how far the group is, over time."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocketchaos.assertions.event_view import of_type
from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.lanes import Clock
from rocketchaos.harness.reporting.parts.story import beginning_ns
from rocketchaos.harness.reporting.parts.time_scale import TimeScale

WIDTH_PX, HEIGHT_PX = 220.0, 72.0
PLOT_LIMIT = 64
"""More queues than this are no longer drawn; the table of queues has all of them."""


@dataclass(frozen=True, slots=True)
class Plot:
    """One queue for one group; the paths are in SVG's words."""

    group: str
    queue: str
    broker_path: str
    group_path: str
    """Empty if the broker never held an offset of the group."""
    last_max: int
    last_own: int | None
    top: int
    seconds: float

    @property
    def text(self) -> str:
        """What the plot ends with, in words."""
        own = "none" if self.last_own is None else str(self.last_own)
        return f"{own} of {self.last_max}"


@dataclass(frozen=True, slots=True)
class PlotGroup:
    """The plots of one group and topic."""

    group: str
    topic: str
    plots: tuple[Plot, ...]


Sample = tuple[float, int, int | None]
"""Seconds, the broker's maximum, the group's offset."""


def offset_plots(run: Report) -> list[PlotGroup]:
    """All plots; empty if no offsets were observed, or where there are too many queues."""
    clock = Clock(beginning_ns(run.events))
    samples: dict[tuple[str, str], dict[str, list[Sample]]] = {}
    for event in of_type(run.events, OffsetsObserved):
        queues = samples.setdefault((event.body.group, event.body.topic), {})
        for item in event.body.queues:
            queues.setdefault(item.name, []).append((clock(event), item.max_offset, item.consumer_offset))
    if sum(len(queues) for queues in samples.values()) > PLOT_LIMIT:
        return []
    end = clock(run.events[-1]) if run.events else 0.0
    return [
        PlotGroup(group, topic, tuple(_plot(group, queue, own, end) for queue, own in queues.items()))
        for (group, topic), queues in samples.items()
    ]


def _plot(group: str, queue: str, samples: Sequence[Sample], end: float) -> Plot:
    top = max(1, *(maximum for _, maximum, _ in samples), *(own or 0 for _, _, own in samples))
    scale = TimeScale([end], WIDTH_PX, squeezed=False)
    return Plot(
        group=group,
        queue=queue,
        broker_path=_steps(scale, [(seconds, maximum) for seconds, maximum, _ in samples], end, top),
        group_path=_steps(
            scale, [(seconds, own) for seconds, _, own in samples if own is not None], end, top
        ),
        last_max=samples[-1][1],
        last_own=samples[-1][2],
        top=top,
        seconds=end,
    )


def _steps(scale: TimeScale, values: Sequence[tuple[float, int]], end: float, top: int) -> str:
    """A path that keeps each value until the next: what was observed, nothing in between."""
    if not values:
        return ""
    path, last = [], None
    for seconds, value in values:
        if value == last:
            continue
        x, y = scale(seconds), HEIGHT_PX * (1 - value / top)
        path.append(f"M{x:.1f} {y:.1f}" if last is None else f"H{x:.1f}V{y:.1f}")
        last = value
    return "".join([*path, f"H{scale(end):.1f}"])
