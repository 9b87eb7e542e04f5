"""Messages that some members' expressions match and others don't, by tags and by SQL92.

SQLite judges SQL92. It agrees with RocketMQ (ComparisonExpression, LogicExpression, 4.9.4 to 5.5.0) where
expressions compare a property with literals of one type, and messages have that type or lack the property.
"""

import random
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product
from math import ceil, floor, prod

from rocketchaos.harness.diagnose import sql
from rocketchaos.harness.diagnose.model import Subscription
from rocketchaos.harness.diagnose.reproduction.scaled import ALL_BY_SQL, wanted_tags
from rocketchaos.harness.language.tags import SQL, hash_code

MOST_MESSAGES = 8
"""Different ones in a scenario."""
_MOST_TRIED = 4096
_TAGS = "TAGS"
"""The property that is a message's tag (MessageConst.PROPERTY_TAGS)."""
_OTHER = "other"
_GREATEST = 2**53
"""Of numbers that a float has exactly."""
_IN_TEXT = {
    "CONTAINS": "(instr({0}, {1}) > 0)",
    "STARTSWITH": "(instr({0}, {1}) = 1)",
    "ENDSWITH": "(substr({0}, -length({1})) = {1})",
}
"""What SQLite has for them."""
_COMPARING = frozenset(["=", "<>", "<", "<=", ">", ">=", *_IN_TEXT])
_BOOLEANS = frozenset(["TRUE", "FALSE"])
_KNOWN = sql.KEYWORDS | _COMPARING | frozenset(["(", ")", ",", "-", "+"])

_Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Message:
    """One that a scenario sends."""

    tag: str
    properties: Mapping[str, str]
    passes: frozenset[str]
    """Members with whose expressions a broker lets it pass; it compares the hashes of tags alone."""
    suits: frozenset[str]
    """Members whose clients hand it to their listeners: without SQL92 they compare the tags themselves."""


class Unjudged(Exception):
    """What an expression matches can't be foretold; the text says why."""


@dataclass(slots=True)
class _Property:
    """How expressions compare it."""

    literals: list[str] = field(default_factory=list)
    may_lack: bool = True
    """Whether messages without it are tried: `1 = a` and CONTAINS are not unknown of them, as in SQLite."""

    @property
    def type(self) -> type[_Value]:
        """Of its literals; raises Unjudged where they have several."""
        found = {_type_of(item) for item in self.literals} or {int}
        if len(found) > 1:
            raise Unjudged(f"its SQL92 compares a property with {' and '.join(sorted(self.literals))}")
        return found.pop()

    def values(self) -> Sequence[_Value]:
        """Those of its literals first."""
        found: list[_Value] = []
        if self.type is bool:
            found += [1, 0]
        elif self.type is str:
            texts = [_text(item) for item in self.literals]
            found += [*texts, _OTHER]
            if not self.may_lack:
                found += [value for text in texts for value in (f"{text}{_OTHER}", f"{_OTHER}{text}")]
        else:
            numbers = [float(item) for item in self.literals] or [1.0]
            if max(map(abs, numbers)) > _GREATEST:
                raise Unjudged(f"its SQL92 has numbers above {_GREATEST}")
            whole = [int(item) for item in numbers if item.is_integer()]
            # RocketMQ reads no fraction where it compares with a whole number (Long.valueOf).
            found += whole or numbers
            found += [int(value) for item in numbers for value in (ceil(item) + 1, floor(item) - 1)]
        return list(dict.fromkeys([*found, *([None] if self.may_lack else [])]))

    def sent(self, value: _Value) -> str:
        """As a message has it."""
        return str(bool(value)).lower() if self.type is bool else str(value)


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
    properties = {_TAGS: _Property(may_lack=False)}
    texts = [_for_sqlite(sql.words(item), properties) for item in expressions.values()]
    known = list(properties.values())
    columns = [
        [*tags, *known[0].values()] if known[0].literals else tags,
        *(item.values() for item in known[1:]),
    ]
    rows = list(_tried(columns))
    declared = ", ".join(
        f"c{number} {'TEXT' if number == 0 or item.type is str else 'NUMERIC'}"
        for number, item in enumerate(known)
    )
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute(f"CREATE TABLE message ({declared})")
            database.executemany(f"INSERT INTO message VALUES ({', '.join('?' * len(known))})", rows)
            # All words of the expressions are known ones: see _for_sqlite.
            answers = database.execute(f"SELECT {', '.join(texts) or 1} FROM message").fetchall()
        except sqlite3.Error as error:
            raise Unjudged(f"which messages its SQL92 matches is unknown from outside ({error})") from error
    for (tag, *values), row in zip(rows, answers, strict=True):
        given = {
            name: properties[name].sent(value)
            for name, value in zip(list(properties)[1:], values, strict=True)
            if value is not None
        }
        yield str(tag), given, [name for name, answer in zip(expressions, row, strict=False) if answer]


def _tried(columns: Sequence[Sequence[_Value]]) -> Iterator[tuple[_Value, ...]]:
    """All combinations, or of too many some by chance, in every call the same ones."""
    if prod(map(len, columns)) <= _MOST_TRIED:
        yield from product(*columns)
        return
    chance = random.Random(0)
    for _ in range(_MOST_TRIED):
        yield tuple(chance.choice(column) for column in columns)


def _for_sqlite(words: Sequence[str], properties: dict[str, _Property]) -> str:
    """An expression as SQLite reads it; adds the properties it has. Raises Unjudged."""
    if len(words) > sql.MOST_WORDS:
        raise Unjudged(f"its SQL92 has more than {sql.MOST_WORDS} words")
    found: list[str] = []
    for index, word in enumerate(words):
        after = words[index + 1 : index + 2]
        if word == "NOT" and after not in (["("], ["NULL"], ["IN"], ["BETWEEN"]):
            # RocketMQ binds it more closely than comparisons, SQLite less closely.
            raise Unjudged("its SQL92 has a NOT without brackets behind it")
        if sql.is_property(word):
            known = properties.setdefault(word, _Property())
            known.literals += _compared_with(words, index)
            known.may_lack &= (
                words[index - 1 : index] not in (["="], ["<>"]) and not set(after) & _IN_TEXT.keys()
            )
            found.append(f"c{list(properties).index(word)}")
        elif found[-1:] and found[-1] in _IN_TEXT and len(found) > 1:
            comparison, subject = found.pop(), found.pop()
            found.append(_IN_TEXT[comparison].format(subject, word))
        elif word in _KNOWN or sql.is_literal(word):
            found.append(word)
        else:
            raise Unjudged(f"its SQL92 has {word!r}, which can't be judged here")
    return f"({' '.join(found)})"


def _compared_with(words: Sequence[str], index: int) -> Iterator[str]:
    """The literals with which the property there is compared; raises Unjudged where it is something else."""
    rest = words[index + 1 + (words[index + 1 : index + 2] == ["NOT"]) :]
    begin = rest[0] if rest else ""
    if begin == "IN":
        closing = rest.index(")") if ")" in rest else len(rest)
        yield from (item for item in rest[1:closing] if sql.is_literal(item))
    elif begin == "BETWEEN":
        end = sql.value(rest, 1)[1]
        yield from (_literal(rest, 1), _literal(rest, end + 1))
    elif begin in _COMPARING:
        yield _literal(rest, 1)
    elif index > 1 and words[index - 1] in _COMPARING:
        yield _literal(words, index - 2 - (words[index - 3 : index - 2] in (["-"], ["+"])))
    elif begin != "IS":
        raise Unjudged(f"its SQL92 doesn't compare {words[index]} with a value")


def _literal(words: Sequence[str], begin: int) -> str:
    """With its sign; raises Unjudged where none begins there."""
    word = words[begin : begin + 1]
    text = word[0] if word and word[0] in _BOOLEANS else "".join(sql.value(words, begin)[0])
    if not text or sql.is_property(text.lstrip("+-")):
        raise Unjudged(f"its SQL92 compares with {''.join(word) or 'nothing'}, whose value is unknown")
    return text


def _type_of(literal: str) -> type[_Value]:
    if literal in _BOOLEANS:
        return bool
    return str if literal.startswith("'") else int


def _text(literal: str) -> str:
    return literal[1:-1].replace("''", "'")
