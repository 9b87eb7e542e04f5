"""PyYAML's errors of syntax in plain sentences."""

import re
from collections.abc import Callable

from yaml.error import Mark, MarkedYAMLError

_Sentence = str | Callable[[re.Match[str], int], str]
"""A sentence, or a function that makes one of the match and of the first line of the construct."""


def _cannot_start(found: re.Match[str], _line: int) -> str:
    sign = found[1]
    if sign == r"\t":
        return "a tab can't indent in YAML: use spaces"
    return f"text can't begin with `{sign}` in YAML: put it in quotes"


_QUOTE_IT = '`*` and `&` have a meaning of their own in YAML: put the text in quotes, `"*"`'
_DIRECTIVE = "a line that begins with `%` is a YAML directive: a scenario needs none"
_ALIGNMENT = "this doesn't line up with line {line}, where the block around it begins: check the indentation"

_OPENS = {"]": "[", "}": "{"}
_SENTENCES: tuple[tuple[str, _Sentence], ...] = (
    (
        r"mapping values are not allowed here",
        "a `:` can't stand here: put text that contains `: ` in quotes, or check the indentation",
    ),
    (r"found character '(.+)' that cannot start any token", _cannot_start),
    (
        r"expected ',' or '(\]|\})'",
        lambda found, line: (
            f"`,` or `{found[1]}` is missing: nothing closes the `{_OPENS[found[1]]}` of line {line}"
        ),
    ),
    (
        r"found unexpected (end of stream|document separator)",
        lambda _found, line: f"the closing quote is missing: the text begins in line {line}",
    ),
    (
        r"expected <block end>, but found '([\]\}])'",
        lambda found, _line: f"nothing was opened that this `{found[1]}` could close",
    ),
    (
        r"expected <block end>, but found '<scalar>'",
        lambda _found, line: f"text can't stand here, after a closing quote or out of line with line {line}",
    ),
    (r"expected <block end>", lambda _found, line: _ALIGNMENT.format(line=line)),
    (r"could not find expected ':'", "a `:` is missing after this key, or the indentation is wrong"),
    (
        r"found unknown escape character '(.+)'",
        lambda found, _line: f"`\\{found[1]}` means nothing in double quotes: use single quotes",
    ),
    (r"expected escape sequence", "this escape in double quotes is not complete: use single quotes"),
    (
        r"sequence entries are not allowed here",
        "a list can't begin here: put `- ` into a line of its own, or the text in quotes",
    ),
    (r"mapping keys are not allowed here", "a `?` can't stand here: put the text in quotes"),
    (r"expected alphabetic or numeric character", _QUOTE_IT),
    (
        r"expected the node content, but found '(.+)'",
        lambda found, _line: f"a value is missing before `{found[1]}`",
    ),
    (r"block scalar", "after `|` or `>` the text begins in the next line"),
    (r"expected '<document start>'", "the scenario has ended in the line before: nothing can follow"),
    (r"tag", "YAML tags (`!…`) are not supported: put text that begins with `!` in quotes"),
    (r"directive|YAML document", _DIRECTIVE),
)


def explain(error: MarkedYAMLError) -> tuple[str, Mark | None]:
    """A plain sentence, and the place."""
    problem, context = error.problem or "", error.context or ""
    mark = error.problem_mark or error.context_mark
    begins = error.context_mark or mark
    for part in ("block scalar", "directive", "a tag"):
        if context.endswith(part):
            problem = part  # whatever is wrong with it, its meaning is the point
    if _misplaced(problem, context) and begins and mark and begins.line != mark.line:
        mark = begins
    for pattern, sentence in _SENTENCES:
        found = re.search(pattern, problem)
        if found is not None:
            line = begins.line + 1 if begins else 1
            return (sentence if isinstance(sentence, str) else sentence(found, line)), mark
    return f"this is not YAML: {problem or context or 'it can not be read'}", mark


def _misplaced(problem: str, context: str) -> bool:
    """Whether PyYAML points to the place where it noticed, often the end of the file, and not to the opening
    one."""
    return (
        "could not find expected" in problem
        or "expected ',' or" in problem
        or ("quoted scalar" in context and "unexpected" in problem)
    )
