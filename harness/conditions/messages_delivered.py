"""At least this many messages have reached listeners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rocketchaos.assertions.view import RunView
from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.core.events.messages import LineOfNoMessage

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def messages_delivered(
    context: ProbeContext, target: str, topic: str | None, tag: str | None, count: int
) -> Seen:
    """Whether at least this many different messages, of one topic and tag or of all, have reached the listeners of
    the target."""
    view = RunView(context.scenario, context.history.events)
    consumers = view.consumers(target) or ()
    keys = view.delivered(len(view.events), consumers, topic)
    if tag is not None:
        keys &= set(_of_tag(view, tag))
    if len(keys) >= count:
        return Seen(True, f"{len(keys)} delivered")
    return Seen(False, "; ".join([f"{len(keys)} delivered", *_printed(context, view, consumers)]))


def _of_tag(view: RunView, tag: str) -> Iterator[str]:
    """The keys of messages of a tag, by their sending and by their delivery.

    A line that a program prints has no tag, and a message with a delay counts as sent only once it is found.
    """
    for sent in view.sent:
        if sent.tag in (view.tags(tag, sent.topic) or ()):
            yield sent.key
    for delivery in view.deliveries(len(view.events)):
        if delivery.event.body.tag in (view.tags(tag, delivery.topic) or ()):
            yield delivery.key


def _printed(context: ProbeContext, view: RunView, consumers: Iterable[str]) -> Iterator[str]:
    """The lines or entries of those programs that are seen by what they print or write."""
    for name in view.seen_from_outside(consumers):
        if view.traits(name).seen_by == "offsets":
            yield f"nothing shows what {name} handles: its `app` has no `sees`"
            continue
        consumer = context.consumers[name]
        output, entries = consumer.printed(), consumer.entries_seen()
        strange = [event.body for event in view.of_kind(LineOfNoMessage) if event.node == name]
        of_none = f"; {strange[0].reason}: {strange[0].line!r}" if strange else ""
        if entries is not None:
            last = f"; the last one: {entries['last']!r}" if entries["entries"] else ""
            failure = f"; the last call failed: {entries['failure']}" if entries.get("failure") else ""
            count = entries["entries"]
            yield f"{count} entries of {name} are {entries['where']}{of_none}{last}{failure}"
            continue
        if output is None:
            continue
        if not output["lines"]:
            begun = f", only the beginning of one: {output['last']!r}" if output["last"] else ""
            yield f"{name} has printed no line{begun}: if it logs to a file, let it log to standard output too"
            continue
        last = f"; the last line: {output['last']!r}"
        yield (
            f"`sees: {{log: …}}` finds {output['found']} of the {output['lines']} lines that {name} has "
            f"printed{of_none}{last}"
        )
