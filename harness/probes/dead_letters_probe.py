"""How many messages a group has given up: the end of its dead-letter topic, `%DLQ%<group>`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.core.events.observed import DeadLettersObserved
from rocketchaos.harness.probes.observations import one_at_a_time

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext

PREFIX = "%DLQ%"
TOPIC_NOT_EXIST = 17


@one_at_a_time
def read_dead_letters(context: ProbeContext, group: str, moment: str | None = None) -> int | None:
    """Ask for the ends of the dead-letter queues, and write down their sum; None: they can't be read.

    A broker makes the topic with a group's first dead letter (`SendMessageProcessor`, 4.9.4): while there is
    none, the name server has no route, and there are no dead letters.
    """
    began_ns, real = context.now_ns(), context.names.real(group)
    try:
        queues = context.admin.offsets(real, PREFIX + real)["queues"]
    except RequestFailed as failure:
        if failure.code != TOPIC_NOT_EXIST:
            context.observations.note_failure("dead-letters", str(failure), group=group)
            return None
        queues = []
    count = sum(int(queue["max_offset"]) for queue in queues)
    data = {"group": group, "count": count}
    context.observations.write(f"dead-letters {group}", DeadLettersObserved.kind, data, moment, began_ns)
    return count
