"""The classes of the oracle in words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketchaos.harness.core.model import MessageClass, MessageFate
from rocketchaos.harness.core.text import counted


@dataclass(frozen=True, slots=True)
class ClassWords:
    """How a class is called."""

    text: str
    """`filtered by the client`."""
    code: str
    """At most two letters, for narrow cells."""
    meaning: str
    """One sentence for a legend."""


CLASS_WORDS: Mapping[MessageClass, ClassWords] = {
    MessageClass.DELIVERED: ClassWords("delivered", "D", "a listener of the group got it"),
    MessageClass.FILTERED_BY_BROKER: ClassWords(
        "filtered by the broker",
        "FB",
        "the stored subscription doesn't match; the broker sent it to no member",
    ),
    MessageClass.FILTERED_BY_CLIENT: ClassWords(
        "filtered by the client",
        "FC",
        "the broker sent it to the queue's owner, whose own subscription doesn't match",
    ),
    MessageClass.STRANDED: ClassWords("stranded", "S", "it waits in a queue that no member consumes"),
    MessageClass.IN_FLIGHT: ClassWords("in flight", "IF", "it waits ahead of the group's offset"),
    MessageClass.IN_RETRY: ClassWords("in retry", "R", "a listener failed; it waits in the retry topic"),
    MessageClass.DEAD_LETTER: ClassWords(
        "dead letter", "DL", "its listener failed for good; it is in the dead-letter queue"
    ),
    MessageClass.LOST: ClassWords(
        "lost", "L", "no filter took it, the offset passed it, and no listener consumed it"
    ),
    MessageClass.UNDETERMINED: ClassWords("undetermined", "?", "the history doesn't say enough to choose"),
}
"""In the order in which they are shown."""


def class_counts(fates: Sequence[MessageFate]) -> dict[MessageClass, int]:
    """How many messages are of which class; classes without any are left out."""
    counts = Counter(fate.message_class for fate in fates)
    return {class_word: counts[class_word] for class_word in CLASS_WORDS if counts[class_word]}


def class_sentence(fates: Sequence[MessageFate]) -> str:
    """`4 delivered, 4 filtered by the client`."""
    return ", ".join(f"{count:,} {CLASS_WORDS[item].text}" for item, count in class_counts(fates).items())


def fate_sentences(fates: Sequence[MessageFate]) -> list[str]:
    """For each group and topic: `8 messages of orders for group g: 4 delivered, 4 filtered by the client`."""
    places = dict.fromkeys((fate.group, fate.topic) for fate in fates)
    sentences = []
    for group, topic in places:
        own = [fate for fate in fates if (fate.group, fate.topic) == (group, topic)]
        sentences.append(
            f"{counted(len(own), 'message')} of {topic} for group {group}: {class_sentence(own)}"
        )
    return sentences


@dataclass(frozen=True, slots=True)
class Reason:
    """Messages that share their class and the oracle's reason."""

    message_class: MessageClass
    reason: str
    keys: tuple[str, ...]
    events: tuple[int, ...]


def reasons(fates: Sequence[MessageFate]) -> list[Reason]:
    """Why messages were not delivered, each reason once, with everything that proves it."""
    grouped: dict[tuple[MessageClass, str], list[MessageFate]] = {}
    for fate in fates:
        if fate.message_class is not MessageClass.DELIVERED:
            grouped.setdefault((fate.message_class, fate.reason), []).append(fate)
    order = list(CLASS_WORDS)
    return [
        Reason(
            message_class,
            reason,
            tuple(fate.key for fate in own),
            tuple(sorted({number for fate in own for number in fate.events})),
        )
        for (message_class, reason), own in sorted(grouped.items(), key=lambda item: order.index(item[0][0]))
    ]
