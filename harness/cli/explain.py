"""`rocketchaos explain`: what a word means."""

import shutil
import textwrap
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape

from rocketchaos.harness.cli.completing import words
from rocketchaos.harness.cli.terminal import OUT
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.plan.selection import load_all
from rocketchaos.harness.reference.catalogue import claims_of, refuted_by
from rocketchaos.harness.reference.explain import Entry, entries, meanings
from rocketchaos.harness.scenario.model import Scenario

_WIDTH = 100
"""At most; a narrower terminal sets its own."""
_MOST = 6
"""More meanings than this are only named."""


def explain(
    word: Annotated[
        str | None,
        typer.Argument(
            metavar="[WORD]",
            autocompletion=words,
            help="A step, a check, a key (`send.per_queue`), what became of a message, an outcome, a timing "
            "profile, an exit code, a claim (`B01`). Default: all.",
        ),
    ] = None,
) -> ExitCode:
    """Explain a word of scenarios and reports."""
    if word is None:
        _list_all()
        return ExitCode.AS_EXPECTED
    found = meanings(word)
    if not found:
        raise UsageProblem(_unknown(word), "`rocketchaos explain` lists all words.")
    if len(found) > _MOST:
        OUT.print(f"`{word}` is a key of several words; choose one:")
        _columns([meaning.name for meaning in found])
        return ExitCode.AS_EXPECTED
    for number, entry in enumerate(found):
        if number:
            OUT.print()
        _show(entry)
    return ExitCode.AS_EXPECTED


def _unknown(word: str) -> str:
    names = list(dict.fromkeys(entry.name for entry in entries()))
    near = nearest(word, names)
    return f"there is no word `{word}`" + (f"; did you mean `{near}`?" if near else "")


def _list_all() -> None:
    kinds: dict[str, list[str]] = {}
    for entry in entries():
        if "." not in entry.name and not entry.of_a_key:
            kinds.setdefault(entry.kind, []).append(entry.name)
    for kind, names in kinds.items():
        OUT.print(f"[bold]{escape(kind)}[/bold]", markup=True)
        _columns(names)
    OUT.print("`rocketchaos explain WORD` explains one, `explain WORD.KEY` a key of it.")


def _columns(names: list[str]) -> None:
    for line in textwrap.wrap("  ".join(names), _width() - 4, break_on_hyphens=False):
        OUT.print(f"    {line}")


def _show(entry: Entry) -> None:
    OUT.print(f"[bold]{escape(entry.name)}[/bold]  ({escape(entry.kind)})", markup=True)
    for paragraph in entry.text.split("\n\n"):
        OUT.print(textwrap.fill(_plain(paragraph), _width(), break_long_words=False))
    if entry.example:
        OUT.print("\nExample:")
        OUT.print(textwrap.indent(entry.example, "    "))
    if entry.kind == "claim":
        carriers = [item for item in _shipped() if entry.name in claims_of(item)]
        _show_scenarios("Scenarios with a check that confirms it if it holds:", carriers)
        against = [item for item in _shipped() if entry.name in refuted_by(item)]
        _show_scenarios("Scenarios with a check that shows the contrary if it holds:", against)
    if not entry.keys:
        return
    OUT.print("\nKeys:")
    for key in entry.keys:
        text = f"{key.name}: {key.value}; {_plain(key.meaning)}"
        wrapped = textwrap.wrap(text, _width() - 8, break_long_words=False, break_on_hyphens=False)
        OUT.print("    " + "\n        ".join(wrapped))


def _shipped() -> list[Scenario]:
    return load_all(sorted(shipped().values()))


def _show_scenarios(heading: str, scenarios: Sequence[Scenario]) -> None:
    if scenarios:
        OUT.print(f"\n{heading}")
    for scenario in scenarios:
        OUT.print(f"    {scenario.name}")


def _width() -> int:
    return min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns)


def _plain(text: str) -> str:
    return text.replace("**", "")
