"""The answer of a check where no message has reached its queue: none was sent, or brokers hold it back. Pure."""

from __future__ import annotations

from rocketchaos.assertions.base import Answer
from rocketchaos.assertions.on_the_way import RETRY_LEVELS_S, natural_delay_ms
from rocketchaos.assertions.too_early import TooEarly, latest
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import Recalled, SendAccepted, SendFailed, Sending
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.core.text import counted


def nothing_sent(view: RunView, expected: str, topic: str | None, tag: str | None, at: int) -> Answer:
    """Unknown; if brokers hold messages back, what can be asked, or from when on their fate can be known.

    Args:
        view: of the run.
        expected: what the check states.
        topic: of the messages; None: any.
        tag: of the messages, also a reference; None: any.
        at: the number of the event up to which the history counts.
    """
    held = held_back(view, topic, tag, at)
    recalled = {event.body.key for event in view.of_kind(Recalled, until=at)}
    delayed = [event for event in held if event.body.how == "delayed" and event.body.key not in recalled]
    if held and not delayed:
        halves = [event for event in held if event.body.key not in recalled]
        why = f"brokers hold {counted(len(halves), 'half message')} back"
        if not halves:
            why = f"{counted(len(held), 'message')} that was sent was taken back"
        why += ": `delivered: {…, so_far: true}` asks what had come by then"
        return Answer(None, expected, why, [event.n for event in held])
    if not delayed:
        return _none_acknowledged(view, expected, topic, tag, at)
    where = "is not in its queue" if len(delayed) == 1 else "are not in their queues"
    early = TooEarly(
        f"{counted(len(delayed), 'delayed message')} {where} yet",
        latest(_in_its_queue_by_ns(view, event) for event in delayed),
    )
    proof = [event.n for event in delayed]
    return Answer(None, expected, str(early), proof, too_early=early)


def _none_acknowledged(view: RunView, expected: str, topic: str | None, tag: str | None, at: int) -> Answer:
    failed = [event for event in view.of_kind(SendFailed, until=at) if _is_one(view, event.body, topic, tag)]
    if not failed:
        return Answer(None, expected, "no message was sent that could have been delivered")
    first = failed[0].body
    why = f"no message was acknowledged; {first.key}: {(first.error.splitlines() or ['no reason'])[0]}"
    return Answer(None, expected, why, [event.n for event in failed])


def held_back(view: RunView, topic: str | None, tag: str | None, at: int) -> list[Event[SendAccepted]]:
    """What a broker has acknowledged and holds back: delayed messages, and halves of transactions."""
    return [
        event
        for event in view.of_kind(SendAccepted, until=at)
        if event.body.how in ("delayed", "commit", "rollback", "unknown")
        and _is_one(view, event.body, topic, tag)
    ]


def _is_one(view: RunView, message: Sending, topic: str | None, tag: str | None) -> bool:
    return topic in (None, message.topic) and (
        tag is None or message.tag in (view.tags(tag, message.topic) or ())
    )


def _in_its_queue_by_ns(view: RunView, event: Event[SendAccepted]) -> int | None:
    """When it should have reached its consumers, as `Event.mono_ns`; None: its delay is not known."""
    level, delay_ms = event.body.delay_level, event.body.delay_ms
    if level is not None:
        delay_ms = RETRY_LEVELS_S[min(level, len(RETRY_LEVELS_S)) - 1] * 1000
    if delay_ms is None:
        return None
    return event.mono_ns + (delay_ms + natural_delay_ms(view.timing)) * 1_000_000
