"""Topics whose newest messages no member wants: producers and members write the tag differently."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from rocketchaos.harness.diagnose.checks.misread import odd_tags
from rocketchaos.harness.diagnose.fate import Entry, entries_of
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.meaning import expression_text, meaning, takes
from rocketchaos.harness.diagnose.model import TAG
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, joined
from rocketchaos.harness.language.tags import hash_code, tags_of

_LEAST = 4
"""Fewer messages don't show what producers send."""


def unwanted(view: GroupView) -> Iterator[Result]:
    """Topics of which the members agree on what they want, and none of the newest messages has it."""
    for topic in view.topics:
        own = list(view.own(topic).values())
        entries = _newest(view, topic)
        if len(view.meanings(topic)) != 1 or own[0].type != TAG or len(entries) < _LEAST:
            continue
        if odd_tags(own[0]) or any(
            meaning(item) not in view.meanings(topic) for item in view.held(topic).values()
        ):
            continue  # RC0107 and RC0102 say why
        if any(takes(own[0], entry.tags_code, entry.tag) is not False for entry in entries):
            continue
        known = {item: hash_code(item) for item in variants(tags_of(expression_text(own[0])))}
        similar = {tag for tag, code in known.items() if any(item.tags_code == code for item in entries)}
        tags = _tags(entries, similar)
        yield Found(
            f"all members want `{expression_text(own[0])}`, and none of the "
            f"{counted(len(entries), 'newest message')} has it{f': {joined(tags)}' if tags else ''}",
            (
                *(
                    Evidence(
                        view.members[client_id].shown_by,
                        f"{client_id} wants `{expression_text(subscription)}`",
                    )
                    for client_id, subscription in view.own(topic).items()
                ),
                *(
                    Evidence(exchange, "the hashes of their tags")
                    for (of, _), exchange in sorted(view.now.entries.items())
                    if of == topic
                ),
            ),
            topic,
            level=Level.WARNING if similar else None,
            key="similar" if similar else "",
        )


def _tags(entries: Sequence[Entry], similar: Collection[str]) -> list[str]:
    """How many messages have which tag, as far as tags are known: those that were read, and similar ones."""
    names = {hash_code(tag): tag for tag in similar} | {0: ""}
    found = Counter(names.get(item.tags_code) if item.tag is None else item.tag for item in entries)
    return [
        f"{count} {'has' if count == 1 else 'have'} {f'the tag `{tag}`' if tag else 'no tag'}"
        for tag, count in found.most_common()
        if tag is not None
    ]


def variants(tags: Collection[str]) -> set[str]:
    """What a producer may have written for one of these tags: in other capitals, or with blanks."""
    found = {
        other
        for tag in tags
        for text in (tag, tag.lower(), tag.upper(), tag[:1].swapcase() + tag[1:])
        for other in (text, f" {text}", f"{text} ")
    }
    return found - set(tags)


def _newest(view: GroupView, topic: str) -> list[Entry]:
    """Of all queues; none if those of a queue with messages are unknown."""
    found: list[Entry] = []
    for queue in view.queues(topic):
        entries = entries_of(view, topic, queue)
        ends = view.ends(topic).get(queue)
        if not entries and (ends is None or ends.max_offset > ends.min_offset):
            return []
        found += entries or ()
    return found


CHECKS = (
    Check(
        "RC0108",
        "no member wants any of a topic's newest messages",
        Level.INFO,
        "",
        "Brokers filter these messages, and tools show them as consumed. If other groups want them, that is as it "
        "should be.",
        (
            "Compare the tags that producers send with the subscription, also their capitals and blanks: "
            "`--read-messages` shows them, and so does a group with `*`.",
            "Correct the side that is wrong; then send the messages again, or reset the group's offset.",
        ),
        of_group=unwanted,
    ),
)
