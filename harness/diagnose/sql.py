"""SQL92 of subscriptions, compared by what it says (SelectorParser.jj, 4.9.4 to 5.5.0).

Blanks, comments, the capitals of keywords, superfluous brackets and the order of operands make no difference, nor
does BETWEEN for two comparisons.
"""

import re
from collections.abc import Mapping, Sequence

_TOKEN = re.compile(
    r"(?P<skipped>\s+|--[^\n]*|/\*.*?\*/)|(?P<text>'(?:[^']|'')*')|(?P<word>[A-Za-z_$][\w$]*)"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)|(?P<sign><>|<=|>=|.)",
    re.DOTALL,
)
KEYWORDS = frozenset(
    ["NOT", "AND", "OR", "BETWEEN", "IN", "TRUE", "FALSE", "NULL", "IS", "CONTAINS", "STARTSWITH", "ENDSWITH"]
)
"""In any capitals; names of properties keep theirs."""
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""`1 < a` is `a > 1`.

`1 = a` is `a = 1`, except in a NOT: of messages without `a` the former is false, the latter unknown
(ComparisonExpression.doCreateEqual). So `1 <> a` matches them, and `a <> 1` doesn't.
"""
_TEXT = re.compile(r"'(?:[^']|'')*'")
_ONE_TAG = rf"TAGS (?:= {_TEXT.pattern}|IN \( {_TEXT.pattern}(?:, {_TEXT.pattern})* \))"
_ONLY_TAGS = re.compile(rf"{_ONE_TAG}|\( {_ONE_TAG}(?: OR {_ONE_TAG})+ \)")
"""Of a canonical expression; TAGS is the property that is a message's tag (MessageConst.PROPERTY_TAGS)."""
MOST_WORDS = 200
"""Longer ones are compared word by word: a bundle from others may nest brackets without end."""


def canonical(sql: str) -> str:
    """Equal for two texts that match the same messages, as far as the texts show."""
    found = words(sql)
    return " ".join(found) if len(found) > MOST_WORDS else _of(_compared(found), {**_MIRRORED, "=": "="})


def tags_alone(canonical: str) -> frozenset[str]:
    """The tags of an expression that asks for nothing else, `TAGS = 'a' OR TAGS IN ('b', 'c')`; otherwise none."""
    if not _ONLY_TAGS.fullmatch(canonical):
        return frozenset()
    found = frozenset(map(unquoted, _TEXT.findall(canonical)))
    return frozenset() if "" in found else found  # its hash is that of no tag at all


def unquoted(text: str) -> str:
    """A literal's text."""
    return text[1:-1].replace("''", "'")


def words(sql: str) -> Sequence[str]:
    """Its words and signs without blanks and comments, keywords in capitals."""
    return [_word(found) for found in _TOKEN.finditer(sql) if found["skipped"] is None]


def _compared(words: Sequence[str]) -> Sequence[str]:
    """With two comparisons in place of each BETWEEN (ComparisonExpression.createBetween, createNotBetween)."""
    found: list[str] = []
    at = 0
    while at < len(words):
        subject, negated = words[at], words[at + 1 : at + 2] == ["NOT"]
        between = at + 1 + negated
        low, end_of_low = value(words, between + 1)
        high, end = value(words, end_of_low + 1)
        # NOT and signs bind more closely: `NOT a BETWEEN 1 AND 2` is about `NOT a`.
        alone = found[-1:] not in (["NOT"], ["-"], ["+"]) and words[end : end + 1] in (
            [],
            ["AND"],
            ["OR"],
            [")"],
        )
        is_between = [*words[between : between + 1], *words[end_of_low : end_of_low + 1]] == [
            "BETWEEN",
            "AND",
        ]
        if is_between and _is_value(subject) and low and high and alone:
            least, joint, most = ("<", "OR", ">") if negated else (">=", "AND", "<=")
            found += ["(", subject, least, *low, joint, subject, most, *high, ")"]
            at = end
        else:
            found.append(subject)
            at += 1
    return found


def value(words: Sequence[str], begin: int) -> tuple[Sequence[str], int]:
    """A literal or a property, perhaps with its sign, and where it ends; none: something else is there."""
    end = begin + 1 + (words[begin : begin + 1] in (["-"], ["+"]))
    value = words[begin:end]
    return (value, end) if len(value) == end - begin and _is_value(value[-1]) else ((), begin)


def _is_value(word: str) -> bool:
    return is_literal(word) or is_property(word)


def is_property(word: str) -> bool:
    """Whether it is the name of a message's property."""
    return (word[0].isalpha() or word[0] in "_$") and word not in KEYWORDS


def _word(found: re.Match[str]) -> str:
    upper = found[0].upper()
    return upper if found["word"] and upper in KEYWORDS else found[0]


def _of(words: Sequence[str], mirrored: Mapping[str, str]) -> str:
    words = _bare(words)
    for operator in ("OR", "AND"):
        parts = _split(words, operator)
        if len(parts) > 1 and all(parts):
            operands = {item for part in parts for item in _operands(part, operator, mirrored)}
            return f"( {f' {operator} '.join(sorted(operands))} )"
    if len(words) == 3 and words[1] in mirrored and is_literal(words[0]) and not is_literal(words[2]):
        return f"{words[2]} {mirrored[words[1]]} {words[0]}"
    # Without its brackets NOT takes the next operand alone: `NOT (a = 1)` isn't `NOT a = 1`.
    if len(words) > 3 and words[0] == "NOT" and words[1] == "(" and _closes(words, 1) == len(words) - 1:
        return f"NOT ( {_of(words[2:-1], _MIRRORED)} )"
    if "IN" in words and words[-1] == ")":
        begin = words.index("IN") + 2
        values = sorted({word for word in words[begin:-1] if word != ","})
        return " ".join([*words[:begin], ", ".join(values), ")"])
    return " ".join(words)


def _bare(words: Sequence[str]) -> Sequence[str]:
    """Without brackets around all of it."""
    while len(words) > 2 and words[0] == "(" and _closes(words, 0) == len(words) - 1:
        words = words[1:-1]
    return words


def _operands(words: Sequence[str], operator: str, mirrored: Mapping[str, str]) -> set[str]:
    """Of one part: where it is the same operator in brackets, what that has."""
    words = _bare(words)
    parts = _split(words, operator)
    # AND binds more closely: with an OR beside it, it is none of this level.
    if len(parts) == 1 or not all(parts) or (operator == "AND" and len(_split(words, "OR")) > 1):
        return {_of(words, mirrored)}
    return {item for part in parts for item in _operands(part, operator, mirrored)}


def is_literal(word: str) -> bool:
    """Whether it is a number or a text."""
    return word[0].isdigit() or word[0] in ".'"


def _split(words: Sequence[str], operator: str) -> list[list[str]]:
    """At an operator outside brackets; the AND of a BETWEEN is none."""
    parts: list[list[str]] = [[]]
    depth = between = 0
    for word in words:
        depth += (word == "(") - (word == ")")
        between += word == "BETWEEN" and depth == 0
        if word == operator and depth == 0 and not (operator == "AND" and between):
            parts.append([])
            continue
        if word == "AND" and depth == 0 and between:
            between -= 1
        parts[-1].append(word)
    return parts


def _closes(words: Sequence[str], begin: int) -> int:
    """Where the bracket at `begin` closes; -1: nowhere."""
    depth = 0
    for index in range(begin, len(words)):
        depth += (words[index] == "(") - (words[index] == ")")
        if depth == 0:
            return index
    return -1
