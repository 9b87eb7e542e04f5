"""SQL92 of subscriptions, compared by what it says (SelectorParser.jj, 4.9.4 to 5.5.0).

Blanks, comments, the capitals of keywords, superfluous brackets and the order of operands make no difference.
"""

import re
from collections.abc import Sequence

_TOKEN = re.compile(
    r"(?P<skipped>\s+|--[^\n]*|/\*.*?\*/)|(?P<text>'(?:[^']|'')*')|(?P<word>[A-Za-z_$][\w$]*)"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)|(?P<sign><>|<=|>=|.)",
    re.DOTALL,
)
_KEYWORDS = frozenset(
    ["NOT", "AND", "OR", "BETWEEN", "IN", "TRUE", "FALSE", "NULL", "IS", "CONTAINS", "STARTSWITH", "ENDSWITH"]
)
"""In any capitals; names of properties keep theirs."""
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""`1 < a` is `a > 1`."""
_MOST = 200
"""Longer ones are compared word by word: a bundle from others may nest brackets without end."""


def canonical(sql: str) -> str:
    """Equal for two texts that match the same messages, as far as the texts show."""
    words = [_word(found) for found in _TOKEN.finditer(sql) if found["skipped"] is None]
    return " ".join(words) if len(words) > _MOST else _of(words)


def _word(found: re.Match[str]) -> str:
    upper = found[0].upper()
    return upper if found["word"] and upper in _KEYWORDS else found[0]


def _of(words: Sequence[str]) -> str:
    words = _bare(words)
    for operator in ("OR", "AND"):
        parts = _split(words, operator)
        if len(parts) > 1 and all(parts):
            operands = {item for part in parts for item in _operands(part, operator)}
            return f"( {f' {operator} '.join(sorted(operands))} )"
    if len(words) == 3 and words[1] in _MIRRORED and _is_literal(words[0]) and not _is_literal(words[2]):
        return f"{words[2]} {_MIRRORED[words[1]]} {words[0]}"
    # Without its brackets NOT takes the next operand alone: `NOT (a = 1)` isn't `NOT a = 1`.
    if len(words) > 3 and words[0] == "NOT" and words[1] == "(" and _closes(words, 1) == len(words) - 1:
        return f"NOT ( {_of(words[2:-1])} )"
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


def _operands(words: Sequence[str], operator: str) -> set[str]:
    """Of one part: where it is the same operator in brackets, what that has."""
    words = _bare(words)
    parts = _split(words, operator)
    # AND binds more closely: with an OR beside it, it is none of this level.
    if len(parts) == 1 or not all(parts) or (operator == "AND" and len(_split(words, "OR")) > 1):
        return {_of(words)}
    return {item for part in parts for item in _operands(part, operator)}


def _is_literal(word: str) -> bool:
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
