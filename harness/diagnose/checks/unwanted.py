"""Topics whose newest messages no member wants: producers and members write a tag, or a property, differently."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from rocketchaos.harness.diagnose.checks.misread import odd_tags
from rocketchaos.harness.diagnose.fate import Entry, entries_of
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.meaning import expression_text, meaning, takes
from rocketchaos.harness.diagnose.model import CLASS
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, joined, queues_text
from rocketchaos.harness.language.tags import SQL, hash_code, tags_of

_LEAST = 4
"""Fewer messages don't show what producers send."""


def unwanted(view: GroupView) -> Iterator[Result]:
    """Topics of which the members agree on what they want, and none of the newest messages has it."""
    for topic in view.topics:
        own = list(view.own(topic).values())
        entries = _newest(view, topic)
        if len(view.meanings(topic)) != 1 or own[0].type == CLASS or len(entries) < _LEAST:
            continue
        by_sql = own[0].type == SQL
        if (odd_tags(own[0]) and not by_sql) or any(
            meaning(item) not in view.meanings(topic) for item in view.held(topic).values()
        ):
            continue  # RC0107 and RC0102 say why
        if any(takes(own[0], entry.tags_code, entry.tag, entry.matched) is not False for entry in entries):
            continue
        wanted = set() if by_sql else tags_of(expression_text(own[0]))
        known = {item: hash_code(item) for item in variants(wanted)}
        similar = {tag for tag, code in known.items() if any(item.tags_code == code for item in entries)}
        tags = _tags(entries, similar)
        yield Found(
            f"all members want `{expression_text(own[0])}`{' (SQL92)' if by_sql else ''}, and none of the "
            f"{counted(len(entries), 'newest message')} {'matches' if by_sql else 'has'} it"
            f"{f': {joined(tags)}' if tags else ''}",
            (
                *(
                    Evidence(
                        view.members[client_id].shown_by,
                        f"{client_id} wants `{expression_text(subscription)}`",
                    )
                    for client_id, subscription in view.own(topic).items()
                ),
                *_proof(view, topic, by_sql=by_sql),
            ),
            topic,
            level=Level.WARNING if similar else None,
            key="similar" if similar else "",
        )


def _proof(view: GroupView, topic: str, *, by_sql: bool) -> Iterator[Evidence]:
    """The answers that show what the messages have: of each queue one."""
    # SQL92 of tags alone needs no message that was read.
    read = {queue: item for (of, queue), item in sorted(view.now.messages.items()) if of == topic and item}
    if by_sql and read:
        for queue, exchanges in read.items():
            said = (
                f"{queues_text([queue])}: the newest of {counted(len(exchanges), 'message')} that were read"
            )
            yield Evidence(exchanges[-1], said)
        return
    for (of, _), exchange in sorted(view.now.entries.items()):
        if of == topic:
            yield Evidence(exchange, "the hashes of their tags")


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
            "Compare the tags, or for SQL92 the properties, that producers send with the subscription, also their "
            "capitals and blanks: `--read-messages` shows the tags, and a group with `*` gets the messages.",
            "Correct the side that is wrong; then send the messages again, or reset the group's offset.",
        ),
        of_group=unwanted,
    ),
)
