"""Findings that are known: they are reported like all others, and change no exit code."""

from collections.abc import Collection, Iterator
from pathlib import Path

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.core.text import reason_of
from rocketchaos.harness.nightly.codes import CODES
from rocketchaos.harness.nightly.known_before import code_of


def read_known(path: Path | None) -> frozenset[str]:
    """The codes in a file, one a line; empty lines, and whatever follows a `#`, say nothing.

    Behind a code may stand `: ` and words. Files from before findings had codes have their sentences.

    Raises:
        UsageProblem: it can't be read.
    """
    if path is None:
        return frozenset()
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(
            f"the known findings in {path} can't be read: {reason_of(error)}",
            "Give one code a line.",
        ) from None
    return frozenset(code_of(text) for line in lines if (text := line.partition("#")[0].strip()))


def doubts(known: Collection[str]) -> Iterator[str]:
    """Of each code that no finding of this version has, a sentence: it is of another version, or a slip."""
    for code in sorted(set(known) - set(CODES)):
        near = nearest(code, CODES)
        yield f"--known: no finding has the code `{code}`" + (f"; did you mean `{near}`?" if near else "")
