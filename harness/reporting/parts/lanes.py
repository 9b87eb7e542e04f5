"""The timeline: what is drawn in each lane."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocketchaos.harness.core.model import Event

CHARACTER_PX = 6.6
"""The width of a character of the small labels, generously."""
MARK_GRID_PX = 3.0
"""Marks nearer to each other than this are drawn as one."""


@dataclass(frozen=True, slots=True)
class Span:
    """A bar from here to there."""

    x: float
    width: float
    style: str
    """How it is drawn: a CSS class."""
    text: str
    title: str
    event: int

    @property
    def label(self) -> str:
        """As much of the text as fits in."""
        room = int((self.width - 6) / CHARACTER_PX)
        if len(self.text) <= room:
            return self.text
        return self.text[: room - 1] + "…" if room >= 4 else ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign at one moment."""

    x: float
    style: str
    title: str
    event: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Lane:
    """One process, or one thing that is observed."""

    name: str
    role: str
    rows: tuple[tuple[Span, ...], ...]
    """Bars, in rows from the top."""
    marks: tuple[Mark, ...] = ()
    """Signs, in a row of their own below the first."""


@dataclass(frozen=True, slots=True)
class Window:
    """The time of a fault, shaded through all lanes."""

    x: float
    width: float
    text: str
    target: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A bar before it has a place on the axis: seconds instead of pixels."""

    begin: float
    end: float
    style: str
    text: str
    title: str
    event: int


def gather(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Marks of the same look that nearly overlap become one mark with a count."""
    groups: dict[tuple[str, int], list[Mark]] = {}
    for mark in marks:
        groups.setdefault((mark.style, round(mark.x / MARK_GRID_PX)), []).append(mark)
    gathered = []
    for own in groups.values():
        first = own[0]
        if len(own) == 1:
            gathered.append(first)
            continue
        text = "\n".join(mark.title for mark in own[:10])
        more = f"\n… and {len(own) - 10:,} more" if len(own) > 10 else ""
        gathered.append(
            Mark(first.x, first.style, f"{len(own):,} at once:\n{text}{more}", first.event, len(own))
        )
    return tuple(sorted(gathered, key=lambda mark: mark.x))


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds since the first step began."""

    zero_ns: int

    def __call__(self, event: Event) -> float:
        """When it happened; events before the first step count as its beginning."""
        return max(0.0, (event.mono_ns - self.zero_ns) / 1e9)


@dataclass(frozen=True, slots=True)
class Change:
    """From here on it looks so; a look of `""` is a gap."""

    seconds: float
    style: str
    text: str
    title: str
    event: int


def stretches(changes: Sequence[Change], end: float) -> list[Piece]:
    """Bars from each change to the next, and to the end; changes that change nothing are skipped."""
    kept: list[Change] = []
    for change in changes:
        if not kept or (kept[-1].style, kept[-1].text) != (change.style, change.text):
            kept.append(change)
    return [
        Piece(item.seconds, max(item.seconds, until), item.style, item.text, item.title, item.event)
        for item, until in zip(kept, [*(later.seconds for later in kept[1:]), end], strict=False)
        if item.style
    ]
