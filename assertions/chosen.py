"""The messages and the listeners that a check counts at an observation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocketchaos.assertions.view import RunView, Sent

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


def chosen_messages(
    view: RunView, moment: str, topic: str, tag: str | None, queues_of: str | None
) -> list[Sent] | str:
    """The messages sent by the observation `moment`; or why they are unknown, or why there are none."""
    at = view.end_of(moment)
    if at is None:
        return f"the observation `{moment}` was not made"
    owned = None
    if queues_of is not None:
        owned = view.queues_owned(queues_of, topic, at)
        if owned is None:
            return view.why_not_owned(
                view.consumers(queues_of) or (), f"the queues of {queues_of} were not observed"
            )
    messages = [
        message
        for message in view.sent_until(at)
        if message.topic == topic
        and (owned is None or message.queue in owned)
        and (tag is None or message.tag in (view.tags(tag, topic) or ()))
    ]
    return messages or "no message was sent"


def chosen_listeners(view: RunView, moment: str, to: str | None) -> tuple[int, tuple[str, ...]] | str:
    """The number of the event that closes the observation, and the consumers, by default all; or what lacks."""
    at = view.end_of(moment)
    consumers = tuple(view.scenario.consumers) if to is None else view.consumers(to)
    if at is None:
        return f"the observation `{moment}` was not made"
    return f"{to} was never bound" if consumers is None else (at, consumers)


def owner_elsewhere(scenario: Scenario, group: str, queues_of: str | None) -> Iterator[str]:
    """A problem where the consumer whose queues are meant is of another group."""
    consumer = scenario.consumers.get(queues_of or "")
    if consumer is not None and consumer.group != group:
        yield f"`queues_of: {queues_of}`: {queues_of} is of group {consumer.group}, and {group} is meant here"


def lag_beyond(scenario: Scenario, topic: str, lag: int) -> Iterator[str]:
    """A lag that is more than all messages that the topic can ever have."""
    sent = scenario.most_sent(topic)
    if lag > sent and not scenario.sends_unseen:
        yield f"lag {lag}: the steps send {sent} messages to {topic}"


def of_none(scenario: Scenario, topic: str | None, tag: str | None = None) -> Iterator[str]:
    """Why a statement about messages of a topic and a tag is never known: no step sends any."""
    if not scenario.most_sent(topic, tag):
        yield "the steps send no such message: the answer is always unknown"
