"""Check the style: report each banned turn in documentation, help, messages and docstrings.

    python .ci/plain_words.py [FILE ...]

The turns are in `plain_words.toml`, each with what to say in its place. Read are the strings and docstrings of
Python, and the full text of each other file: documentation, scenarios, claims, templates, queries. Exit code
0: no turn; 1: each one as `file:line: the turn: what to say`; 2: the rules can't be read. Recorded runs and tests
are left alone.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BREAK = re.compile(r"\n\s*(?:#|//|--|>)\s")
RULES = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Turn:
    """A banned turn: its pattern, what to say in its place, and the phrases in which it is right."""

    pattern: re.Pattern[str]
    say: str
    right_in: tuple[re.Pattern[str], ...]

    def found_in(self, text: str) -> Iterator[re.Match[str]]:
        """Each place of the turn that no phrase of `right_in` covers."""
        right = [found.span() for phrase in self.right_in for found in phrase.finditer(text)]
        for found in self.pattern.finditer(text):
            if not any(start <= found.start() and found.end() <= end for start, end in right):
                yield found


@dataclass(frozen=True)
class Rules:
    """All of `plain_words.toml`: the turns, the kinds of file to read, and the paths to leave alone."""

    turns: tuple[Turn, ...]
    read: tuple[str, ...]
    leave: tuple[str, ...]

    def concern(self, path: str) -> bool:
        """Whether the file, a path from the root of the repository, is to be read."""
        return Path(path).name.endswith(self.read) and not path.startswith(self.leave)


def rules_of(text: str) -> Rules:
    """The rules, of TOML; raises ValueError for what they can't be made of."""
    try:
        table = tomllib.loads(text)
        turns = tuple(
            Turn(_pattern(each["turn"]), each["say"], tuple(map(_pattern, each.get("right_in", ()))))
            for each in table["turns"]
        )
        return Rules(turns, tuple(table["read"]), tuple(table["leave"]))
    except (KeyError, TypeError, re.error) as error:
        raise ValueError(f"no rules: {error!r}") from error


def _pattern(turn: str) -> re.Pattern[str]:
    # A turn may go on in the next line, also of a comment, a list or a quotation.
    return re.compile(turn.replace(" ", r"(?:\s|\n\s*(?:#|//|--|>)\s)+"), re.IGNORECASE)


def texts_of(name: str, source: str) -> Iterator[tuple[int, str]]:
    """Each text of a file that a person reads, with its first line; raises SyntaxError for broken Python."""
    if not name.endswith(".py"):
        yield 1, source
        return
    inner: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inner.update(id(part) for part in node.values)
            parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield node.lineno, node.value


def findings(name: str, source: str, rules: Rules) -> Iterator[str]:
    """Each banned turn of a file as `file:line: the turn: what to say`."""
    for start, text in texts_of(name, source):
        for turn in rules.turns:
            for found in turn.found_in(text):
                line = start + text.count("\n", 0, found.start())
                yield f"{name}:{line}: “{' '.join(BREAK.sub(' ', found[0]).split())}”: {turn.say}"


def main(names: list[str]) -> int:
    """Check the named files, default all files that git tracks. Return the exit code."""
    try:
        rules = rules_of(RULES.read_text(encoding="utf-8"))
    except ValueError as error:
        print(f"{RULES.name}: {error}", file=sys.stderr)
        return 2
    if not names:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        names = [name for name in listed.stdout.split("\0") if name and rules.concern(name)]
    count = 0
    for name in names:
        path = ROOT / name
        if path.is_file():
            for finding in findings(name, path.read_text(encoding="utf-8"), rules):
                print(finding)
                count += 1
    if count:
        print(f"{count} turns to say in plain words; the rules are in .ci/{RULES.name}.", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
