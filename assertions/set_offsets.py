"""Tools that set a group's offsets, and don't say to what. Pure."""

from collections.abc import Iterator

from rocketchaos.assertions.event_view import EventView
from rocketchaos.harness.core.events.servers import Asked, MqadminRan
from rocketchaos.harness.core.model import Event

REQUESTS = (15, 222, 314)
"""UPDATE_CONSUMER_OFFSET, INVOKE_BROKER_TO_RESET_OFFSET, CLONE_GROUP_OFFSET (RequestCode, 4.9.4)."""
COMMANDS = ("cloneGroupOffset", "resetOffsetByTime", "resetOffsetByTimeOld", "skipAccumulatedMessage")
"""Of `mqadmin`, 4.9.4 to 5.5.0."""


def set_by_tools(view: EventView, group: str) -> Iterator[Event]:
    """The requests and commands that may have set this group's offsets; a request doesn't tell its group."""
    yield from (event for event in view.of_kind(Asked) if event.body.request in REQUESTS)
    for event in view.of_kind(MqadminRan):
        if event.body.command[0] in COMMANDS and f"<{group}>" in event.body.command:
            yield event
