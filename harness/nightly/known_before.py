"""The sentences that identified findings before there were codes. Old files still contain them.

Frozen: these are the words of that time, whatever `codes` says today.
"""

from collections.abc import Mapping

from rocketchaos.harness.nightly.codes import CODES

_WITHOUT_MIND = {
    "offset-backwards: more was forgotten than a broker's flush interval": "offset-backwards-beyond-flush",
    "offset-backwards: nothing had moved the queue": "offset-backwards-unmoved",
    "offset-backwards: further back than what moved the queue explains": "offset-backwards-beyond-moves",
    "cross-delivery: through the retry topic, of a topic to which it doesn't subscribe": (
        "cross-delivery-retry-topic"
    ),
    "cross-delivery: through the retry topic, of a tag to which it doesn't subscribe": (
        "cross-delivery-retry-tag"
    ),
    "cross-delivery: straight from its queue, of a topic to which it doesn't subscribe": (
        "cross-delivery-queue-topic"
    ),
    "cross-delivery: straight from its queue, of a tag to which it doesn't subscribe": (
        "cross-delivery-queue-tag"
    ),
    "lost: no filter can have taken it; the members agree": "lost-agree",
    "lost: no filter can have taken it; the members disagree": "lost-disagree",
    "stuck: nothing is consumed any more": "stuck-nothing-consumed",
    "repeated: nothing had moved a queue": "repeated-unmoved",
}
_BEFORE_MIND = {
    "several-owners: ": "several-owners",
    "repeated: two members consume its queue; ": "repeated-shared-queue",
    "refused-on-and-on: subscription not exist; ": "refused-on-and-on-not-exist",
    "refused-on-and-on: subscription not latest; ": "refused-on-and-on-not-latest",
    "wanted-but-not-delivered: filtered-by-client: the queue's owner drops what another member wants; ": (
        "wanted-but-not-delivered-filtered-by-client"
    ),
    "wanted-but-not-delivered: filtered-by-broker: the stored subscription passes over what a member wants; ": (
        "wanted-but-not-delivered-filtered-by-broker"
    ),
    "wanted-but-not-delivered: stranded: the message waits in a queue that nobody consumes; ": (
        "wanted-but-not-delivered-stranded"
    ),
}
_DISAGREEMENTS = {
    "the members agree": "agree",
    "the members differ in their topics": "topics",
    "the members differ in their tags": "tags",
    "the members differ in their SQL": "sql",
    "the members differ in their allocation": "allocation",
}

CODE_OF: Mapping[str, str] = _WITHOUT_MIND | {
    f"{begin}{disagreement}": f"{code}-{rest}"
    for begin, code in _BEFORE_MIND.items()
    for disagreement, rest in _DISAGREEMENTS.items()
}
"""The code of each sentence."""
SENTENCE_OF: Mapping[str, str] = {code: sentence for sentence, code in CODE_OF.items()}
"""The sentence of each code that had one."""


def code_of(text: str) -> str:
    """The code that a line means: a code, a code with `: ` and words, or a sentence; else the line itself."""
    begin = text.partition(": ")[0]
    return begin if begin in CODES else CODE_OF.get(text, text)


def is_meant(code: str, text: str) -> bool:
    """Whether a part of the code has the text, or of its words, today's or those of before."""
    words = (CODES[code].signature,) if code in CODES else ()
    return any(text in item for item in (code, *words, SENTENCE_OF.get(code, "")))
