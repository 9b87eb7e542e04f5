"""The codes of findings, in one registry: a finding is known, counted and found again by its code.

A code is never renamed, and never used for anything else. The words may change at any time: `known_before` has
those that an earlier version used in place of codes.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a code."""

    kind: str
    """Of the invariant that didn't hold."""
    cause: str
    """The words, without names, numbers and times."""
    title: str
    """The cause, and its effect if the cause alone doesn't say it."""

    @property
    def signature(self) -> str:
        """The kind and the cause, for people."""
        return f"{self.kind}: {self.cause}"


_DISAGREEMENTS = {
    "agree": "the members agree",
    "topics": "the members differ in their topics",
    "tags": "the members differ in their tags",
    "sql": "the members differ in their SQL",
    "allocation": "the members differ in their allocation",
}
"""The kinds of disagreement, by the words of `invariants.disagreement.Disagreement`."""

_PLAIN = {
    ("offset-backwards", "beyond-flush"): "more was forgotten than a broker's flush interval",
    ("offset-backwards", "unmoved"): "nothing had moved the queue",
    ("offset-backwards", "beyond-moves"): "further back than what moved the queue explains",
    ("cross-delivery", "retry-topic"): "through the retry topic, of a topic to which it doesn't subscribe",
    ("cross-delivery", "retry-tag"): "through the retry topic, of a tag to which it doesn't subscribe",
    ("cross-delivery", "queue-topic"): "straight from its queue, of a topic to which it doesn't subscribe",
    ("cross-delivery", "queue-tag"): "straight from its queue, of a tag to which it doesn't subscribe",
    ("lost", "agree"): "no filter can have taken it; the members agree",
    ("lost", "disagree"): "no filter can have taken it; the members disagree",
    ("stuck", "nothing-consumed"): "nothing is consumed any more",
    ("repeated", "unmoved"): "nothing had moved a queue",
}
"""Causes by kind and the rest of the code."""

_WITH_DISAGREEMENT = {
    ("several-owners", ""): ("", "several owners"),
    ("repeated", "shared-queue"): ("", "two members consume its queue"),
    ("refused-on-and-on", "not-exist"): ("", "subscription not exist"),
    ("refused-on-and-on", "not-latest"): ("", "subscription not latest"),
    ("wanted-but-not-delivered", "filtered-by-client"): (
        "filtered-by-client: ",
        "the queue's owner drops what another member wants",
    ),
    ("wanted-but-not-delivered", "filtered-by-broker"): (
        "filtered-by-broker: ",
        "the stored subscription filters out what a member wants",
    ),
    ("wanted-but-not-delivered", "stranded"): (
        "stranded: ",
        "the message waits in a queue that nobody consumes",
    ),
}
"""The same of causes after which a disagreement follows: its last argument, and the cause."""


def _codes() -> dict[str, Meaning]:
    found = {f"{kind}-{rest}": Meaning(kind, words, words) for (kind, rest), words in _PLAIN.items()}
    for (kind, rest), (before, words) in _WITH_DISAGREEMENT.items():
        for disagreement, differ in _DISAGREEMENTS.items():
            code = "-".join(filter(None, (kind, rest, disagreement)))
            title = f"{words}; {differ}"
            found[code] = Meaning(kind, f"{before}{title}" if rest else differ, title)
    return found


CODES: Mapping[str, Meaning] = _codes()
"""Every code, with its present words."""
