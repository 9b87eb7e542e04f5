"""How easy README and guides are to read: Flesch reading ease by textstat, at least 55 on each page.

    python .ci/readability.py [FILE ...] > docs/readability.md

Counted is the prose alone: code, tables, HTML and addresses are left out, inline code counts, and each
heading and each item of a list ends a sentence. Exit code 0; 1: a page is below the limit, and named on stderr.
"""

import re
import sys
from pathlib import Path

import textstat

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 55.0
PAGES = ("README.md", "docs/get-started.md", "docs/guides/*.md", "docs/readers/*.md")

# Others' pages by the same rules, computed once; TAIL says of what and when.
OTHERS = (
    "| Hypothesis: README.md | 126 | 15.8 | 47 |",
    "| Hypothesis: tutorial/introduction.rst | 738 | 10.5 | 61 |",
    "| Testcontainers for Python: README.md | 84 | 10.5 | 35 |",
    "| Testcontainers for Python: quickstart | 244 | 10.2 | 61 |",
    "| Testcontainers for Java: first page | 205 | 22.8 | 40 |",
)

HEAD = """# Readability

Flesch reading ease of our pages, and of pages of other projects: the higher, the easier. 60 to 70 is plain
English. `make readability` makes this page, and fails if one of ours is below 55. Only prose counts, no
code blocks and no tables.

| page | words | words a sentence | reading ease |
|---|---|---|---|
"""

TAIL = """

Other projects' pages, by the same rules, computed once on 2026-11-26: Hypothesis at 41004301f, Testcontainers for
Python 4.15.0 (its README is its page on PyPI) and c958e40c, Testcontainers for Java at 00f1f785 (the use cases).

textstat 0.7.4 counts the syllables.
"""


def prose_of(markdown: str) -> str:
    """The sentences of a Markdown page."""
    text = re.sub(r"^---\n.*?\n---\n", "", markdown, flags=re.DOTALL)
    text = re.sub(r"^( *)(```|~~~).*?^\1\2 *$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->|<[^>\n]+>", "", text, flags=re.DOTALL)
    text = re.sub(r"^ *\|.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"^\[[^\]]+\]: \S+$", "", text, flags=re.MULTILINE)
    text = text.replace("`", "")
    text = re.sub(r"^ {4,}\S.*$", "", text, flags=re.MULTILINE) if "\n\n    " in text else text
    sentences = []
    for block in re.split(r"\n\s*\n|\n(?= *(?:[-*+]|\d+\.) )|\n(?=#)|(?<=#)\n", text):
        sentence = re.sub(r"^ *(#+|[-*+>]|\d+\.) ", "", block.strip())
        words = re.sub(r"(?<=\w)_(?=\w)", " ", sentence)
        sentence = " ".join(re.sub(r"[*_#>]", "", words).split())
        if sentence:
            sentences.append(sentence if sentence[-1] in ".!?:" else f"{sentence}.")
    return "\n".join(sentences).replace(":\n", ".\n")


def row(name: str, markdown: str) -> tuple[str, float]:
    """A page's row of the table, and its reading ease."""
    prose = prose_of(markdown)
    ease = float(textstat.flesch_reading_ease(prose))
    words = textstat.lexicon_count(prose)
    length = words / max(1, textstat.sentence_count(prose))
    return f"| {name} | {words} | {length:.1f} | {ease:.0f} |", ease


def main(names: list[str]) -> int:
    """Print the page for the named files, or all; return the exit code."""
    paths = [ROOT / name for name in names] or [path for each in PAGES for path in sorted(ROOT.glob(each))]
    rows = [row(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths]
    print(HEAD + "\n".join([*(text for text, _ in rows), *OTHERS]) + TAIL)
    low = [text for text, ease in rows if ease < LIMIT]
    for text in low:
        print(f"below {LIMIT:.0f}: {text}", file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
