"""The grid: queues down, messages across, each cell what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rocketchaos.harness.core.message_classes import CLASS_WORDS
from rocketchaos.harness.core.model import MessageClass, MessageFate
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.queues import queue_lines

SINGLE_LIMIT = 40
"""With more messages than this in a queue, neighbours of the same class share a cell."""
CELL_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Cell:
    """One message, or several neighbours of the same class."""

    message_class: MessageClass
    text: str
    title: str
    event: int
    span: int


@dataclass(frozen=True, slots=True)
class Row:
    """One queue."""

    queue: str
    owner: str
    cells: tuple[Cell, ...]
    left_out: int
    """Messages for which there was no cell."""


@dataclass(frozen=True, slots=True)
class Grid:
    """One topic for one group."""

    group: str
    topic: str
    rows: tuple[Row, ...]


def message_grids(run: Report) -> list[Grid]:
    """The grids in the order of groups and topics; topics without messages are left out."""
    lines = queue_lines(run)
    grids = []
    for group, topic in dict.fromkeys((line.group, line.topic) for line in lines):
        fates = [fate for fate in run.outcome.messages if (fate.group, fate.topic) == (group, topic)]
        own = [line for line in lines if (line.group, line.topic) == (group, topic)]
        rows = tuple(
            _row(line.queue, line.owner, [fate for fate in fates if fate.queue == line.queue]) for line in own
        )
        if fates:
            grids.append(Grid(group, topic, rows))
    return grids


def _row(queue: str, owner: str, fates: Sequence[MessageFate]) -> Row:
    ordered = sorted(fates, key=lambda fate: fate.offset if fate.offset is not None else -1)
    if len(ordered) <= SINGLE_LIMIT:
        cells = [_cell([fate]) for fate in ordered]
    else:
        cells = [_cell(list(run)) for _, run in groupby(ordered, key=lambda fate: fate.message_class)]
    shown = cells[:CELL_LIMIT]
    return Row(queue, owner, tuple(shown), len(ordered) - sum(cell.span for cell in shown))


def _cell(fates: Sequence[MessageFate]) -> Cell:
    first, last = fates[0], fates[-1]
    words = CLASS_WORDS[first.message_class]
    if len(fates) == 1:
        title = f"{first.key}, tag {first.tag}, offset {first.offset}: {words.text}: {first.reason}"
        text = f"{words.code}"
    else:
        which = f"{first.key} to {last.key}, offsets {first.offset} to {last.offset}"
        title = f"{len(fates)} messages, {which}: {words.text}"
        text = f"{words.code} ×{len(fates)}"
    return Cell(first.message_class, text, title, first.events[0] if first.events else 0, len(fates))
