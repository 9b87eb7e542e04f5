"""At least this many messages are in a group's dead-letter queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.probes.dead_letters_probe import read_dead_letters

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def dead_letters_there(context: ProbeContext, group: str, count: int) -> Seen:
    """Whether at least this many messages are in `%DLQ%<group>`."""
    found = read_dead_letters(context, group)
    if found is None:
        return Seen(False, "the dead-letter queue can't be read")
    return Seen(found >= count, f"{found} dead letters")
