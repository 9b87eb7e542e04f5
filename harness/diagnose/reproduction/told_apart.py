"""Messages that some members' expressions match and others don't, by tags and by SQL92."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, prod

from rocketchaos.harness.diagnose.model import Subscription
from rocketchaos.harness.diagnose.reproduction.scaled import ALL_BY_SQL, wanted_tags
from rocketchaos.harness.diagnose.sql_judge import Judge, Property, Unjudged, Value
from rocketchaos.harness.language.tags import SQL, hash_code

MOST_MESSAGES = 8
"""Different ones in a scenario."""
_MOST_TRIED = 4096
_TAGS = "TAGS"
"""The property that is a message's tag (MessageConst.PROPERTY_TAGS)."""
_OTHER = "other"


@dataclass(frozen=True, slots=True)
class Message:
    """One that a scenario sends."""

    tag: str
    properties: Mapping[str, str]
    passes: frozenset[str]
    """Members with whose expressions a broker lets it pass; it compares the hashes of tags alone."""
    suits: frozenset[str]
    """Members whose clients hand it to their listeners: without SQL92 they compare the tags themselves."""


def messages(wanted: Mapping[str, Subscription], tags: Sequence[str]) -> Sequence[Message]:
    """Of each kind that matters one message, of many kinds those that the fewest members want; raises Unjudged.

    `wanted` has the members' subscriptions by their names, `tags` those to send.
    """
    by_sql = {
        name: item.expression
        for name, item in wanted.items()
        if item.type == SQL and item.expression != ALL_BY_SQL
    }
    found: dict[tuple[frozenset[str], frozenset[str]], Message] = {}
    for tag, properties, matched in _judged(by_sql, tags):
        passes, suits = set(matched), set(by_sql)
        for name in wanted.keys() - by_sql.keys():
            own = wanted_tags(wanted[name])
            if not own or hash_code(tag) in map(hash_code, own):
                passes.add(name)
            if not own or tag in own:
                suits.add(name)
        if passes & suits:
            kind = frozenset(passes), frozenset(suits)
            found.setdefault(kind, Message(tag, properties, *kind))
    kept = sorted(found.values(), key=lambda item: len(item.passes & item.suits))[:MOST_MESSAGES]
    return [item for item in found.values() if item in kept]


def _judged(
    expressions: Mapping[str, str], tags: Sequence[str]
) -> Iterator[tuple[str, Mapping[str, str], Sequence[str]]]:
    """Tag and properties of messages, and whose expressions match them; raises Unjudged."""
    if not expressions:
        yield from ((tag, {}, ()) for tag in tags)
        return
    judge = Judge(list(expressions.values()))
    known = dict(judge.properties)
    of_tag = known.pop(_TAGS, Property())
    if of_tag.type is not str:
        raise Unjudged("its SQL92 compares tags with other values than texts")
    texts = list(dict.fromkeys([*tags, *of_tag.texts]))
    rows = list(_tried([texts, *map(_values, known.values())]))
    given = [dict(zip([_TAGS, *known], row, strict=True)) for row in rows]
    answers = judge.of_messages([[row[name] for name in judge.properties] for row in given])
    for (tag, *values), answer in zip(rows, answers, strict=True):
        sent = {
            name: str(value).lower() if item.type is bool else str(value)
            for (name, item), value in zip(known.items(), values, strict=True)
            if value is not None
        }
        yield str(tag), sent, [name for name, matches in zip(expressions, answer, strict=True) if matches]


def _values(known: Property) -> Sequence[Value]:
    """The values that messages try, its literals first; raises Unjudged."""
    found: list[Value] = []
    if known.type is bool:
        found += [True, False]
    elif known.type is str:
        found += [*known.texts, _OTHER]
        if not known.may_lack:
            found += [value for text in known.texts for value in (f"{text}{_OTHER}", f"{_OTHER}{text}")]
    else:
        whole = [int(item) for item in known.numbers if item.is_integer()]
        found += whole or known.numbers
        found += [int(value) for item in known.numbers for value in (ceil(item) + 1, floor(item) - 1)]
    return list(dict.fromkeys([*found, *([None] if known.may_lack else [])]))


def _tried(columns: Sequence[Sequence[Value]]) -> Iterator[tuple[Value, ...]]:
    """All combinations, or of too many some by chance, in every call the same ones."""
    if prod(map(len, columns)) <= _MOST_TRIED:
        yield from product(*columns)
        return
    chance = random.Random(0)
    for _ in range(_MOST_TRIED):
        yield tuple(chance.choice(column) for column in columns)
