"""The messages of which a check speaks that reads an observation: of a topic, perhaps of a tag, or of an owner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assertions.view import RunView, Sent

if TYPE_CHECKING:
    from harness.scenario import Scenario


def chosen_messages(
    view: RunView, moment: str, topic: str, tag: str | None, queues_of: str | None
) -> list[Sent] | str:
    """Those that were sent by the observation `moment`; or why it can't be said which they are, or none is."""
    at = view.end_of(moment)
    if at is None:
        return f"the observation `{moment}` was not made"
    owned = None
    if queues_of is not None:
        owned = view.queues_owned(queues_of, topic, at)
        if owned is None:
            return f"the queues of {queues_of} were not observed"
    messages = [
        message
        for message in view.sent_until(at)
        if message.topic == topic
        and (owned is None or message.queue in owned)
        and (tag is None or message.tag in (view.tags(tag, topic) or ()))
    ]
    return messages or "no message was sent"


def owner_elsewhere(scenario: Scenario, group: str, queues_of: str | None) -> Iterator[str]:
    """A problem where the consumer whose queues are meant is of another group."""
    consumer = scenario.consumers.get(queues_of or "")
    if consumer is not None and consumer.group != group:
        yield f"`queues_of: {queues_of}`: {queues_of} is of group {consumer.group}, and {group} is meant here"
