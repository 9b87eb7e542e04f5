"""`rocketchaos list`: which scenarios there are."""

import shutil
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from rocketchaos.harness.cli.common_options import JsonOption
from rocketchaos.harness.cli.terminal import OUT
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.plan.keywords import fits
from rocketchaos.harness.plan.library import SUFFIX, shipped
from rocketchaos.harness.plan.scenario_list import Listed, listed
from rocketchaos.harness.plan.themes import THEMES


def list_scenarios(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH|WORD...]",
            help="Files or folders, by default those that come with rocketchaos; and words: each must occur "
            "in the name, the title, the theme or a claim. A theme's name alone lists the theme.",
        ),
    ] = None,
    keywords: Annotated[
        str,
        typer.Option(
            "-k", metavar="EXPR", help="The same as an expression, as in pytest: `tags and not grpc`."
        ),
    ] = "",
    long: Annotated[
        bool, typer.Option("--long", "-l", help="With expected outcome, control, timing, marks and claims.")
    ] = False,
    every_theme: Annotated[
        bool, typer.Option("--all", "-a", help="On a terminal: all scenarios instead of the themes.")
    ] = False,
    as_json: JsonOption = False,
) -> ExitCode:
    """List scenarios by theme, or those that match words.

    A terminal gets the themes, or one short line for each scenario and only the names of controls. A file or a
    pipe gets one whole line for each scenario.
    """
    paths = [Path(text) for text in what or () if _is_path(text)]
    words = [text for text in what or () if not _is_path(text)]
    every = listed(paths or sorted(shipped().values()))
    chosen = [entry for entry in every if _has(entry, words) and fits("-k", keywords, entry.words, part=True)]
    if not chosen:
        asked = " ".join([*words, *([f"-k {keywords!r}"] if keywords.strip() else [])])
        raise UsageProblem(f"no scenario matches {asked}", "`rocketchaos list` shows all of them.")
    if as_json:
        OUT.print_json(_document(chosen))
        return ExitCode.AS_EXPECTED
    width = shutil.get_terminal_size().columns
    everything = not (what or keywords.strip() or long)
    if everything and not every_theme and OUT.is_terminal:
        OUT.print("\n".join(_themes(chosen, width)))
        return ExitCode.AS_EXPECTED
    every_one = bool(words or keywords.strip() or long)
    for line, item in _by_theme(chosen, width, every_one=every_one) if OUT.is_terminal else _table(chosen):
        OUT.print(line)
        if long and item is not None:
            OUT.print(f"    {_facts(item)}")
    return ExitCode.AS_EXPECTED


def _is_path(text: str) -> bool:
    """Whether a path is meant and not a word: it is there, or looks like one."""
    return "/" in text or text.endswith((".yaml", ".yml")) or _has_scenarios(Path(text))


def _has_scenarios(path: Path) -> bool:
    return path.is_file() or (path.is_dir() and next(path.rglob(f"*{SUFFIX}"), None) is not None)


def _has(item: Listed, words: Sequence[str]) -> bool:
    if len(words) == 1 and words[0] in THEMES:
        return item.theme == words[0]
    return all(any(word.lower() in text.lower() for text in item.words) for word in words)


def _themes(scenarios: Sequence[Listed], width: int) -> Iterator[str]:
    """A line for each theme, and how to go on."""
    counts = Counter(item.theme for item in scenarios)
    name_width = max(map(len, counts))
    for theme, count in counts.items():
        yield clipped(f"{theme:{name_width}} {count:3}  {THEMES.get(theme, '')}".rstrip(), width)
    yield ""
    yield f"{len(scenarios)} scenarios. Show more with:"
    yield f"  rocketchaos list {next(iter(counts))}    a theme"
    yield "  rocketchaos list retry      those with a word in name or title"
    yield "  rocketchaos list --all      all"


def _table(scenarios: Sequence[Listed]) -> Iterator[tuple[str, Listed | None]]:
    """A whole line for each: name, theme, title."""
    name_width = max(len(item.name) for item in scenarios)
    theme_width = max(len(item.theme) for item in scenarios)
    for scenario in scenarios:
        yield f"{scenario.name:{name_width}}  {scenario.theme:{theme_width}}  {scenario.title}", scenario


def _by_theme(
    scenarios: Sequence[Listed], width: int, *, every_one: bool
) -> Iterator[tuple[str, Listed | None]]:
    """Each theme with its scenarios, clipped to the width; unless every one is wanted, controls by name alone."""
    controls = set() if every_one else {scenario.control for scenario in scenarios}
    for theme, group in groupby(scenarios, key=lambda scenario: scenario.theme):
        members = list(group)
        yield f"{theme} ({len(members)})", None
        own = [item for item in members if item.name not in controls or item.control is not None]
        name_width = max((len(item.name) for item in own), default=0)
        for member in own:
            yield clipped(f"  {member.name:{name_width}}  {member.title}", width), member
        if names := [item.name for item in members if item not in own]:
            text = f"controls: {', '.join(names)}"
            yield _indented(text, width), None


def _indented(text: str, width: int) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def clipped(line: str, width: int) -> str:
    """The line, cut to a width."""
    return line if len(line) <= width else f"{line[: max(1, width - 1)].rstrip()}…"


def _facts(item: Listed) -> str:
    from rocketchaos.harness.language.expectation import expected_text

    control = [f"control: {item.control}"] if item.control else []
    return ", ".join(
        [f"expected: {expected_text(item.expected)}", *control, item.timing, *item.marks, *item.claims]
    )


def _document(scenarios: Sequence[Listed]) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "scenarios": [
            {
                "name": scenario.name,
                "title": scenario.title,
                "theme": scenario.theme,
                "expected": scenario.expected,
                "control": scenario.control,
                "timing": scenario.timing,
                "marks": list(scenario.marks),
                "claims": list(scenario.claims),
                "file": scenario.file,
            }
            for scenario in scenarios
        ],
    }
