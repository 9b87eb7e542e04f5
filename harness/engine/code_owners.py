"""The owner of a scenario that names none: from the `CODEOWNERS` of the checkout that has its file."""

from collections.abc import Iterator
from pathlib import Path

from codeowners import CodeOwners

PLACES = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""The places of the file in a checkout. The first that exists counts, as on GitHub and GitLab."""


def code_owner_of(file: str) -> str | None:
    """The owners that the checkout's `CODEOWNERS` names for a file, as it writes them: `@org/team`, `@a, @b`.

    The last matching rule counts. If it names no owner, the file has none. Invalid rules are skipped, as on
    GitHub. GitLab's default owners of a section are not read.

    Args:
        file: path of the file, which needn't be tracked, nor be there any more.

    Returns:
        None where it is in no checkout, or where that names no owner.
    """
    path = Path(file).resolve()
    checkout = next((folder for folder in path.parents if (folder / ".git").exists()), None)
    if checkout is None:
        return None
    text = _rules_of(checkout)
    owners = CodeOwners(text).of(path.relative_to(checkout).as_posix())
    return ", ".join(name for _, name in owners) or None


def _rules_of(checkout: Path) -> str:
    for place in PLACES:
        try:
            text = (checkout / place).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        return "\n".join(_valid(text))
    return ""


def _valid(text: str) -> Iterator[str]:
    """The valid rules, without the remarks behind them: the package would look for owners there."""
    for line in text.splitlines():
        rule = line.split(" #")[0].strip()
        if rule.startswith(("[", "^[", "#")):
            continue
        try:
            CodeOwners(rule)
        except ValueError:
            continue
        yield rule
