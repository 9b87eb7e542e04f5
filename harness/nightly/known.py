"""Findings that are known: they are reported like all others, and change no exit code."""

from pathlib import Path

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.text import reason_of
from rocketchaos.harness.nightly.known_before import code_of


def read_known(path: Path | None) -> frozenset[str]:
    """The codes in a file, one a line; empty lines and those that begin with `#` say nothing.

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
    return frozenset(
        code_of(line.strip()) for line in lines if line.strip() and not line.lstrip().startswith("#")
    )
