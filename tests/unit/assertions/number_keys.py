"""The keys of checks that take numbers, found in their models, and checks made with them."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin

import yaml
from pydantic import BeforeValidator, ValidationError

from rocketchaos.assertions import CHECKS, Check
from rocketchaos.assertions.limits import LEAST, MOST
from rocketchaos.harness.language.words import parse_duration_ms

BASES: Mapping[str, dict[str, Any]] = {
    "delivered": {"to": "g"},
    "undelivered": {"group": "g"},
    "duplicated": {"to": "g"},
    "retry": {"group": "g"},
    "placed": {"topics": "orders"},
    "dashboard": {"group": "g", "topic": "orders"},
    "offset-falls": {"group": "g"},
    "pull": {"of": "p1"},
    "client-pull": {"of": "c1", "status": "FOUND"},
    "answer": {"of": "ids"},
    "ownership": {"of": "a", "topic": "orders"},
    "subscription": {"group": "g", "topic": "orders"},
    "outcome-distribution": {"of": "$holder"},
    "start-refused": {"consumer": "c"},
    "subscribe-refused": {"consumer": "a", "topic": "orders"},
    "seek-refused": {"consumer": "a", "topic": "orders"},
    "send-refused": {"topic": "orders"},
    "recall-refused": {"topic": "orders"},
    "replied": {"topic": "orders", "got": "exception"},
    "reply-refused": {"to": "a"},
    "transaction-checked": {"topic": "orders"},
}
"""What is stated besides numbers; of other words what their examples state."""
BESIDES: Mapping[tuple[str, str], dict[str, Any]] = {
    ("latency", "percentile"): {"at_most": "20ms"},
    ("send-refused", "code"): {"at_least": 1},
    ("recall-refused", "code"): {"at_least": 1},
    ("replied", "code"): {"at_least": 1},
    ("reply-refused", "code"): {"at_least": 1},
    ("duplicated", "times"): {"at_least": 1},
    ("retry", "reconsume_times"): {"count": 1},
    ("retry", "after_at_least"): {"at_least": 1},
    ("retry", "after_at_most"): {"at_least": 1},
    ("placed", "number"): {"queues": [1]},
    ("placed", "each"): {"number": 1},
    ("log-lapse", "times"): {"at_most": "10s"},
    ("outcome-distribution", "share_at_least"): {"consumer": "b"},
    ("outcome-distribution", "share_at_most"): {"consumer": "b"},
}
"""What must be stated along with a key."""


NO_STATEMENTS = (("check-command", "within"),)
"""Keys that say how something is asked, and nothing of the run."""


@dataclass(frozen=True)
class Key:
    """A key of a check that takes a number, or several."""

    word: str
    name: str
    duration: bool
    many: bool
    fraction: bool

    def said(self, value: Any) -> Any:
        """A value as a scenario says it."""
        return f"{value}ms" if self.duration else value


def _types(annotation: Any) -> set[Any]:
    """Every plain type and mark in an annotation."""
    found: set[Any] = {annotation} if isinstance(annotation, type) and not get_args(annotation) else set()
    found |= {tuple} if get_origin(annotation) in (tuple, list) else set()
    if get_origin(annotation) in (Union, types.UnionType, tuple, list):
        found |= {item for inner in get_args(annotation) for item in _types(inner)}
    elif hasattr(annotation, "__metadata__"):
        marks = {mark.func for mark in annotation.__metadata__ if isinstance(mark, BeforeValidator)}
        found |= marks | _types(get_args(annotation)[0])
    return found


def _keys() -> list[Key]:
    found = []
    for word, check in CHECKS.items():
        for name, field in check.model_fields.items():
            inner = _types(field.annotation) | {
                mark.func for mark in field.metadata if isinstance(mark, BeforeValidator)
            }
            if inner & {int, float} and (word, name) not in NO_STATEMENTS:
                found.append(Key(word, name, parse_duration_ms in inner, tuple in inner, float in inner))
    return found


KEYS = _keys()
"""All of them, of every check that is registered."""
LIMITS = [key for key in KEYS if key.name.endswith(MOST)]
"""Those of upper limits, each of which has a lower one beside it."""


def numbers_of(word: str) -> set[str]:
    """The keys of a word that take numbers."""
    return {key.name for key in KEYS if key.word == word}


def base_of(word: str) -> dict[str, Any]:
    """What a check of this word states besides numbers."""
    example = yaml.load(CHECKS[word].example, yaml.CSafeLoader)[word]
    stated = BASES.get(word, example if isinstance(example, dict) else {})
    return {name: value for name, value in stated.items() if name not in numbers_of(word)}


def made(key: Key, value: Any) -> Check | None:
    """The check that states this value; None: the language refuses it."""
    stated = {**base_of(key.word), **BESIDES.get((key.word, key.name), {}), key.name: key.said(value)}
    try:
        return CHECKS[key.word].model_validate(stated)
    except ValidationError:
        return None


def least_of(most: Key) -> Key:
    """The lower limit beside an upper one."""
    name = most.name.removesuffix(MOST) + LEAST
    return next(key for key in KEYS if (key.word, key.name) == (most.word, name))
