"""Whether SQL92 matches a message, judged by SQLite.

SQLite agrees with RocketMQ (ComparisonExpression, LogicExpression, 4.9.4 to 5.5.0) where expressions compare a
property with literals of one type, and messages have that type or lack the property. All else is unjudged.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from rocketchaos.harness.diagnose import sql

Value = str | int | float | None
"""Of a property; None: the message lacks it."""
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
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]*)?")


class Unjudged(Exception):
    """Nobody can know from here what an expression matches; the text says why."""


@dataclass(slots=True)
class Property:
    """How expressions compare it."""

    literals: list[str] = field(default_factory=list)
    may_lack: bool = True
    """Whether messages without it can be judged: of them `1 = a` and CONTAINS are false, and unknown in SQLite."""

    @property
    def type(self) -> type[Value]:
        """Of its literals; raises Unjudged where they have several."""
        found = {_type_of(item) for item in self.literals} or {str}
        if len(found) > 1:
            raise Unjudged(f"its SQL92 compares a property with {' and '.join(sorted(self.literals))}")
        return found.pop()

    @property
    def texts(self) -> Sequence[str]:
        """Its literals as messages have them."""
        return [sql.unquoted(item) for item in self.literals]

    @property
    def numbers(self) -> Sequence[float]:
        """Its literals; raises Unjudged where one is too large."""
        found = [float(item) for item in self.literals]
        if max(map(abs, found)) > _GREATEST:
            raise Unjudged(f"its SQL92 has numbers above {_GREATEST}")
        return found

    def value(self, text: str | None) -> Value:
        """Of a message's property; raises Unjudged where it has another type."""
        if text is None:
            if not self.may_lack:
                raise Unjudged("the message lacks a property")
            return None
        if self.type is str:
            return text
        if self.type is bool:
            return text.lower() == "true"
        # RocketMQ reads no fraction where it compares with a whole number (Long.valueOf).
        whole = any(item.is_integer() for item in self.numbers)
        if not (_WHOLE if whole else _NUMBER).fullmatch(text):
            raise Unjudged(f"{text} is no number of the same kind")
        return int(text) if whole else float(text)


class Judge:
    """Judges messages by some expressions."""

    def __init__(self, expressions: Sequence[str]) -> None:
        """Read them; raises Unjudged."""
        self.properties: dict[str, Property] = {}
        """By name, those that the expressions have."""
        self._chosen = ", ".join(_for_sqlite(sql.words(item), self.properties) for item in expressions)
        self._table = ", ".join(
            f"c{number} {'TEXT' if item.type is str else 'NUMERIC'}"
            for number, item in enumerate(self.properties.values())
        )
        self.of_messages([])

    def of_message(self, properties: Mapping[str, str]) -> Sequence[bool]:
        """For each expression whether it matches a message with these properties; raises Unjudged."""
        (found,) = self.of_messages(
            [[known.value(properties.get(name)) for name, known in self.properties.items()]]
        )
        return found

    def of_messages(self, rows: Sequence[Sequence[Value]]) -> Sequence[Sequence[bool]]:
        """The same for several messages, each by the values of `properties`; raises Unjudged."""
        with closing(sqlite3.connect(":memory:")) as database:
            try:
                database.execute(f"CREATE TABLE message (n INTEGER PRIMARY KEY, {self._table or 'none'})")
                places = ", ".join("?" * len(self.properties)) or "NULL"
                database.executemany(f"INSERT INTO message VALUES (NULL, {places})", rows)
                # All words of the expressions are known ones: see _for_sqlite.
                answers = database.execute(f"SELECT {self._chosen} FROM message ORDER BY n").fetchall()
            except sqlite3.Error as error:
                raise Unjudged(f"its SQL92 can't be read ({error})") from error
        return [[bool(answer) for answer in row] for row in answers]


def _for_sqlite(words: Sequence[str], properties: dict[str, Property]) -> str:
    """An expression as SQLite reads it; adds the properties it has. Raises Unjudged."""
    if len(words) > sql.MOST_WORDS:
        raise Unjudged(f"its SQL92 has more than {sql.MOST_WORDS} words")
    found: list[str] = []
    for index, word in enumerate(words):
        before, after = words[:index][-1:], words[index + 1 : index + 2]
        if word == "NOT" and after not in (["("], ["NULL"], ["IN"], ["BETWEEN"]):
            # RocketMQ binds it more closely than comparisons, SQLite less closely.
            raise Unjudged("its SQL92 has a NOT without brackets behind it")
        if sql.is_property(word):
            known = properties.setdefault(word, Property())
            known.literals += _compared_with(words, index)
            known.may_lack &= before not in (["="], ["<>"]) and not set(after) & _IN_TEXT.keys()
            found.append(f"c{list(properties).index(word)}")
        elif sql.is_literal(word) and len(found) > 1 and found[-1] in _IN_TEXT:
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
        closing_at = rest.index(")") if ")" in rest else len(rest)
        yield from (item for item in rest[1:closing_at] if sql.is_literal(item))
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


def _type_of(literal: str) -> type[Value]:
    if literal in _BOOLEANS:
        return bool
    return str if literal.startswith("'") else int
