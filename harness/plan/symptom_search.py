"""Finds symptoms by what people paste: a log line, an exception, a response code, a word of a dashboard.

Addresses, ids, dates and numbers are theirs, and don't count; a response code does. Two texts are alike as
far as the words of the shorter one, weighed by how rare they are, are in the other, next to each other.
"""

import difflib
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rocketchaos.harness.plan.symptom_list import ListedSymptom

ENOUGH = 0.6
"""From this likeness on a symptom counts as found; 1 is the same words."""
ALL_OF_IT = 0.9
"""From this likeness on the shorter text is there as a whole, perhaps with a name of theirs in it. Then the longer
match says more: `execute the pull request exception` is in many log lines, whatever the reason that follows."""
_CODE = re.compile(r"\bcode\W{0,4}(\d{1,4})\b")
_OF_DOCKER = re.compile(r"\b172\.17\.\d{1,3}\.\d{1,3}@\d+")
"""A client id with an address of docker0: of all addresses this one is a symptom itself."""
_THREAD = re.compile(
    r"(?:(?:https?://)?github\.com/)?([\w.-]+/[\w.-]+)(?:#|/(?:issues|pull)/)(\d+)\b"
    r"|^(?:([\w.-]+/[\w.-]+) +)?#?(\d+)$"
)
_THEIRS = re.compile(
    r"https?://\S+"
    r"|\bmessagequeue ?\[topic=[^\]]*\]"  # half of all log lines end in one
    r"|\b\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2})?\S*)?"  # dates and times
    r"|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?:@\S+)?"  # addresses, client ids
    r"|\b(?=[0-9a-f-]*\d)[0-9a-f]{4,}(?:-[0-9a-f]{4,})+\b"  # UUIDs
    r"|\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b"  # message ids
)
_WORD = re.compile(r"code\d+|[a-z]{2,}|[\u3400-\u9fff]")
_SAYS_LITTLE = frozenset(
    (
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "that",
        "the",
        "this",
        "to",
    )
)
_PAIRS = 0.3
_PROSE = 0.7
"""The description of a symptom counts less than the very text that people see."""


@dataclass(frozen=True, slots=True)
class Found:
    """A symptom, and how like what was asked it is."""

    symptom: ListedSymptom
    likeness: float
    """0 to 1."""
    weight: float
    """Of the words that both have: among equally like ones the longer match comes first."""

    @property
    def is_it(self) -> bool:
        """Whether it counts as found, and is not just the nearest."""
        return self.likeness >= ENOUGH

    @property
    def rank(self) -> tuple[float, float, float]:
        """The greater one comes first."""
        return min(self.likeness, ALL_OF_IT), self.weight, self.likeness


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text that count, in order, in small letters."""
    small = _OF_DOCKER.sub(" docker id ", _CODE.sub(r" code\1 ", text.lower().replace("…", " ")))
    return tuple(word for word in _WORD.findall(_THEIRS.sub(" ", small)) if word not in _SAYS_LITTLE)


def thread_in(text: str) -> str | None:
    """The thread that is meant: `apache/rocketmq#2760`, `apache/rocketmq 2760`, its address, or `#2760`."""
    found = _THREAD.search(text.strip())
    return None if found is None else f"{found[1] or found[3] or ''}#{found[2] or found[4]}"


def search(asked: str, symptoms: Sequence[ListedSymptom]) -> list[Found]:
    """The symptoms that share words with a text, the most similar first. At least one, if any symptom exists; none
    for nothing but a thread that no symptom has: its number doesn't say what it is about.
    """
    thread = thread_in(asked)
    meant = [
        symptom
        for symptom in symptoms
        if asked.strip() == symptom.name
        or (thread and any(issue.endswith(thread) for issue in symptom.issues))
    ]
    if meant:
        return [Found(symptom, 1.0, 1.0) for symptom in meant]
    library = _library(tuple(symptoms))
    # A thread that no symptom has is not looked for by the words of its repository's name.
    words = words_of(asked if thread is None else _THREAD.sub(" ", asked.strip()))
    if thread is not None and not words:
        return []
    text = _text(words, library.weights)
    found = (_likest(text, symptom, library) for symptom in symptoms)
    # The very text comes first, numbers and all: "tag: 1;2;3" has only one word that counts.
    small = asked.strip().lower()
    likest = sorted(
        (match for match in found if match.likeness > 0),
        key=lambda match: (
            small not in map(str.lower, match.symptom.texts),
            *(-value for value in match.rank),
            match.symptom.name,
        ),
    )
    return likest or _by_letters(asked, symptoms)


def _by_letters(asked: str, symptoms: Sequence[ListedSymptom]) -> list[Found]:
    """Where no word is in common: those whose texts look likest, none of which counts as found."""
    of_text = {text.lower(): symptom for symptom in symptoms for text in symptom.texts}
    near = difflib.get_close_matches(asked.lower()[:200], of_text, n=9, cutoff=0)
    return [Found(symptom, 0.0, 0.0) for symptom in dict.fromkeys(of_text[text] for text in near)]


@dataclass(frozen=True, slots=True)
class _Text:
    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    """Words next to each other."""
    weight: float


@dataclass(frozen=True, slots=True)
class _Library:
    weights: Mapping[str, float]
    """How much a word says, by how few symptoms have it; `""` is a word that none has."""
    texts: Mapping[str, Sequence[tuple[_Text, float]]]
    """The texts of each symptom, by its name, and how much each text counts."""


@lru_cache(maxsize=4)
def _library(symptoms: tuple[ListedSymptom, ...]) -> _Library:
    weights = _weights(symptoms)
    return _Library(
        weights,
        {
            symptom.name: [
                (_text(words_of(text), weights), counts)
                for text, counts in ((_prose(symptom), _PROSE), *((text, 1.0) for text in symptom.texts))
            ]
            for symptom in symptoms
        },
    )


def _prose(symptom: ListedSymptom) -> str:
    return f"{symptom.title} {symptom.reported} {symptom.cause}"


def _text(words: tuple[str, ...], weights: Mapping[str, float]) -> _Text:
    return _Text(frozenset(words), frozenset(pairwise(words)), _weight(frozenset(words), weights))


def _likest(text: _Text, symptom: ListedSymptom, library: _Library) -> Found:
    best = Found(symptom, 0.0, 0.0)
    for other, counts in library.texts[symptom.name]:
        if text.words.isdisjoint(other.words):
            continue  # as most are: without this a search takes three times as long
        likeness, weight = _likeness(text, other, library.weights)
        # Prose holds many words: it is like the question only as far as all of that is in it.
        match = Found(symptom, likeness * counts, weight)
        if match.rank > best.rank:
            best = match
    return best


def _likeness(text: _Text, other: _Text, weights: Mapping[str, float]) -> tuple[float, float]:
    """How like two texts with common words are, 0 to 1, and the weight of these words."""
    both = text.words & other.words
    common = _weight(both, weights)
    smaller = min(text.weight, other.weight)
    share = common / smaller if smaller else 0.0
    if not text.pairs or not other.pairs:
        return share, common
    side_by_side = len(text.pairs & other.pairs) / min(len(text.pairs), len(other.pairs))
    return (1 - _PAIRS) * share + _PAIRS * side_by_side, common


def _weight(words: frozenset[str], weights: Mapping[str, float]) -> float:
    # Exact, so that the order of a set, which no two processes share, decides no tie.
    return math.fsum(weights.get(word, weights[""]) for word in words)


def _weights(symptoms: Sequence[ListedSymptom]) -> dict[str, float]:
    in_how_many = Counter(
        word for symptom in symptoms for word in set(words_of(" ".join((_prose(symptom), *symptom.texts))))
    )
    return {word: math.log(1 + len(symptoms) / count) for word, count in in_how_many.items()} | {
        "": math.log(1 + len(symptoms))
    }
