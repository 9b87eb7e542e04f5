"""`-k` and `-m`: expressions of words, as pytest has them."""

from collections.abc import Sequence

from rocketchaos.harness.core.errors import UsageProblem


def fits(option: str, expression: str, words: Sequence[str], *, part: bool) -> bool:
    """Whether an expression fits some words; an empty one always does.

    Args:
        option: where the user wrote the expression, for the message.
        expression: `tags and not kill`.
        words: the words that it must match.
        part: whether a part of a word is enough, in small or capital letters.

    Raises:
        UsageProblem: it can't be read.
    """
    if not expression.strip():
        return True

    def has(wanted: str, /, **_unused: object) -> bool:
        if part:
            return any(wanted.lower() in word.lower() for word in words)
        return wanted in words

    from _pytest.mark.expression import Expression  # pytest takes a while to load

    try:
        return Expression.compile(expression).evaluate(has)
    except SyntaxError as error:
        raise UsageProblem(
            f"{option} can't be read: {expression!r}: {error.msg}",
            "Write words with `and`, `or`, `not` and parentheses, as in `kill and not go`.",
        ) from error
