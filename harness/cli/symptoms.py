"""`rocketchaos symptoms`: what people report, found by what they paste."""

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from rocketchaos.harness.cli.common_options import JsonOption
from rocketchaos.harness.cli.list import clipped
from rocketchaos.harness.cli.terminal import OUT, tell_left_out
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.language.symptom import SEEN
from rocketchaos.harness.plan.symptom_list import ListedSymptom, shipped_symptoms
from rocketchaos.harness.plan.symptom_search import Found, search, thread_in, words_of

_MOST = 5
_NEAREST = 3
_WIDTH = 100


def symptoms(
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT...]",
            help="What people paste: a log line, an exception, a response code, a word of a dashboard; an issue "
            f"(apache/rocketmq#2760), a scenario's name; or how it is seen: {', '.join(SEEN)}. Ids, "
            "addresses and times are ignored.",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="RUNS",
            help="Print a Markdown table from the runs in this folder instead: issue, symptom, versions, "
            "fixed in. With --json only the counts.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """List reported symptoms by how they show, or find one by the text that you paste.

    Without a text, a terminal gets the number of each kind; a file or a pipe gets all. Every answer ends with the
    command that reproduces it. If nothing matches, it shows the nearest ones, but none for an issue alone, and the
    exit code is 1.
    """
    asked = " ".join(text or ()).strip()
    if table is not None:
        if asked:
            raise UsageProblem("--table shows all symptoms", "Leave the text out.")
        return _table_of(table, as_json=as_json)
    every = shipped_symptoms()
    if text is None or asked in SEEN:
        chosen = [symptom for symptom in every if not asked or asked in symptom.seen]
        _tell_list(chosen, asked, as_json=as_json)
        return ExitCode.AS_EXPECTED
    if not words_of(asked) and thread_in(asked) is None:
        raise UsageProblem(
            "there is nothing to look for in this text",
            "Ids, addresses, numbers and times are ignored: give some of the words around them.",
        )
    found = search(asked, every)
    matching = [match for match in found if match.is_it][:_MOST]
    _tell_found(matching or found[:_NEAREST], matching=bool(matching), as_json=as_json)
    return ExitCode.AS_EXPECTED if matching else ExitCode.NOT_AS_EXPECTED


def _table_of(runs: Path, *, as_json: bool) -> ExitCode:
    from rocketchaos.harness.reference.symptoms import measured_document, measured_from, table

    measured = measured_from(runs, tell_left_out)
    if as_json:
        OUT.print_json(measured_document(measured))
    else:
        OUT.print(table(measured))
    return ExitCode.AS_EXPECTED


def _tell_list(chosen: Sequence[ListedSymptom], seen: str, *, as_json: bool) -> None:
    if as_json:
        OUT.print_json(
            {"schema_version": SCHEMA_VERSION, "symptoms": [_document(symptom) for symptom in chosen]}
        )
        return
    width = shutil.get_terminal_size().columns if OUT.is_terminal else sys.maxsize
    if OUT.is_terminal and not seen:
        for line in _ways(chosen):
            OUT.print(clipped(line, width))
        return
    name_width = max(len(symptom.name) for symptom in chosen)
    for heading, group in groupby(chosen, key=lambda symptom: seen or symptom.seen[0]):
        members = list(group)
        OUT.print(clipped(f"{heading} ({len(members)}): {SEEN[heading]}", width))
        for symptom in members:
            OUT.print(clipped(f"  {symptom.name:{name_width}}  {symptom.title}", width))


def _ways(chosen: Sequence[ListedSymptom]) -> Iterator[str]:
    for way, meaning in SEEN.items():
        count = sum(way in symptom.seen for symptom in chosen)
        yield f"{way:{max(map(len, SEEN))}} {count:3}  {meaning}"
    yield f"\n{len(chosen)} symptoms. Show more with:"
    yield "  rocketchaos symptoms gone       those that are seen in this way"
    yield '  rocketchaos symptoms "TEXT"     those with this log line, code or word'


def _tell_found(found: Sequence[Found], *, matching: bool, as_json: bool) -> None:
    if as_json:
        documents = [{**_document(match.symptom), "likeness": round(match.likeness, 2)} for match in found]
        OUT.print_json({"schema_version": SCHEMA_VERSION, "found": matching, "symptoms": documents})
        return
    if not found:
        OUT.print(
            "No symptom reports this thread. Look for its words: its title, or a log line that it shows."
        )
    elif not matching:
        OUT.print("No symptom has this text; the nearest:")
    for number, match in enumerate(found):
        if number or not matching:
            OUT.print()
        for line in _answer(match.symptom):
            OUT.print(line)


def _answer(symptom: ListedSymptom) -> Iterator[str]:
    yield f"{symptom.name}  ({', '.join(symptom.seen)})"
    parts = {
        "": symptom.title,
        "Issues: ": ", ".join(symptom.issues),
        "Reported: ": symptom.reported,
        "Cause: ": symptom.cause,
        "Way out: ": symptom.remedy,
        "Not reproduced: ": symptom.not_reproduced,
        "Measured: ": measured_text(symptom),
    }
    for label, text in parts.items():
        if text:
            yield from _wrapped(f"{label}{text}")
    yield f"  {symptom.reproduce}"


def measured_text(symptom: ListedSymptom) -> str:
    """On which versions it was seen, in words."""
    shown, absent = ", ".join(symptom.shown_on), ", ".join(symptom.absent_on)
    return "; ".join([*([f"there on {shown}"] if shown else []), *([f"not on {absent}"] if absent else [])])


def _wrapped(text: str) -> list[str]:
    width = max(40, min(_WIDTH, shutil.get_terminal_size().columns))
    return textwrap.wrap(
        text,
        width,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _document(symptom: ListedSymptom) -> dict[str, Any]:
    return {
        "name": symptom.name,
        "title": symptom.title,
        "issues": list(symptom.issues),
        "seen": list(symptom.seen),
        "reported": symptom.reported,
        "texts": list(symptom.texts),
        "cause": symptom.cause,
        "remedy": symptom.remedy,
        "not_reproduced": symptom.not_reproduced or None,
        "control": symptom.control,
        "shown_on": list(symptom.shown_on),
        "absent_on": list(symptom.absent_on),
        "fixed_in": symptom.fixed_in or None,
        "reproduce": symptom.reproduce,
    }
