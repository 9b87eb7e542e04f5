"""A run in a sentence of a report: marked, so that each way of showing makes of it what it can."""

import re
from collections.abc import Callable

_MARKED = re.compile("⟦([^⟦⟧]*)⟧")


def named_run(source: str | None) -> str:
    """The run whose folder this URI names, to stand in a sentence; `unknown` where there is none."""
    if not source:
        return "unknown"
    return source if "⟦" in source or "⟧" in source else f"⟦{source}⟧"


def parts_of(sentence: str) -> list[str]:
    """The sentence cut at its runs: every second part is the URI of one."""
    return _MARKED.split(sentence)


def with_runs(sentence: str, shown: Callable[[str], str]) -> str:
    """The sentence with its runs as `shown` has them."""
    return _MARKED.sub(lambda found: shown(found[1]), sentence)
