"""Whether the data of a file fits the models of `harness.scenario.model`; every mistake with its place."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.scenario.diagnostics import Diagnostic
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.sentences import sentence
from rocketchaos.harness.scenario.yaml_places import Document, Path

_OUT_OF_BOUNDS = {"greater_than_equal", "less_than_equal"}
_AT_THE_KEY = {"extra_forbidden", "missing", "union_tag_invalid", "union_tag_not_found"}


def validate(document: Document) -> tuple[Scenario | None, list[Diagnostic]]:
    """The scenario, or the mistakes in its data."""
    empty = dict(_without_value(document))
    try:
        scenario = Scenario.model_validate(document.data, by_alias=True, by_name=False)
        errors: list[ErrorDetails] = []
    except ValidationError as refused:
        scenario, errors = None, refused.errors(include_url=False)
    placed = _one_per_place([(path_of(error["loc"], document), error) for error in errors])
    misspelt = _misspelt(placed, document)
    split = {path for path, error in placed if error["type"] == "union_tag_not_found"}
    diagnostics = [
        *(_no_scenario(document) if scenario is None else ()),
        *(
            _diagnostic(document, path, error)
            for path, error in placed
            if not (_ignored(document, path, error, misspelt) or _within(path, empty))
        ),
    ]
    diagnostics += [item for path, item in empty.items() if not _within(path[:-1], split)]
    return scenario if not diagnostics else None, diagnostics


def _no_scenario(document: Document) -> Iterator[Diagnostic]:
    """The first mistake of a file that has no key of a scenario, and none that is like one."""
    known = [key for field, info in Scenario.model_fields.items() for key in (field, info.alias) if key]
    if document.data and not any(nearest(str(key), known) for key in document.data):
        keys = "`name`, `title`, `topics`, `consumers`, `steps`"
        message = f"this file is no scenario: it has none of the keys {keys}"
        yield document.report((next(iter(document.data)),), message, key=True)


def path_of(loc: tuple[int | str, ...], document: Document) -> Path:
    """The place in the file of an error; `loc` has parts that are pydantic's own."""
    return document.in_file(loc)


def _diagnostic(document: Document, path: Path, error: ErrorDetails) -> Diagnostic:
    message, suggestion = sentence(error, document, path)
    key = error["type"] in _AT_THE_KEY or error["loc"][-1:] == ("[key]",)
    if error["type"] == "union_tag_invalid":
        path = (*path, error["ctx"]["tag"])
    return document.report(path, message, suggestion, key=key)


def _ignored(document: Document, path: Path, error: ErrorDetails, misspelt: set[Path]) -> bool:
    """Whether it follows from a mistake that is reported anyway."""
    if error["type"] == "missing":
        lacks = path in document.places.incomplete or (*path, str(error["loc"][-1])) in misspelt
    else:
        # Pydantic calls a list too short also where all its entries are wrong.
        lacks = error["type"] == "too_short" and (
            path in document.places.incomplete or _entries(document.value(path)) >= error["ctx"]["min_length"]
        )
    return lacks or document.is_spoilt(path)


def _entries(value: Any) -> int:
    """How many entries a value of a file has; a single one stands for a list."""
    return len(value) if isinstance(value, list) else int(bool(value))


def _misspelt(placed: list[tuple[Path, ErrorDetails]], document: Document) -> set[Path]:
    """The known keys that unknown ones probably mean."""
    unknown = [(path, error) for path, error in placed if error["type"] == "extra_forbidden"]
    meant = ((path, sentence(error, document, path)[1]) for path, error in unknown)
    return {(*path[:-1], suggestion) for path, suggestion in meant if suggestion is not None}


def _within(path: Path, others: Any) -> bool:
    return any(path[:length] in others for length in range(len(path) + 1))


def _one_per_place(errors: list[tuple[Path, ErrorDetails]]) -> list[tuple[Path, ErrorDetails]]:
    """One error for a value that fits no type of several; pydantic has one for each."""
    kept: dict[tuple[Path, str], tuple[Path, ErrorDetails]] = {}
    numbers = {path for path, error in errors if error["type"] in _OUT_OF_BOUNDS}
    entries = {path for path, error in errors if error["type"] == "union_tag_not_found"}
    for path, error in errors:
        if error["type"] == "literal_error" and path in numbers:
            continue  # a number is meant, not one of the words
        if error["type"] == "too_short" and path in entries:
            continue  # a single wrong entry, in place of a list
        last = error["loc"][-1] if error["loc"] else None  # the scenario as a whole has no place
        several = last in ("str", "int", "bool") and last != path[-1]
        if several and error["type"].endswith("_type"):
            error["type"] = "one_of_several_types"
        about = str(error["loc"][-1]) if error["type"] == "missing" else error["type"]
        kept.setdefault((path, about), (path, error))
    return list(kept.values())


def _without_value(document: Document) -> Iterator[tuple[Path, Diagnostic]]:
    """Keys and list entries without a value: they are always slips, so they are refused even if none is needed."""
    for path in document.places.values:
        if not path or document.is_spoilt(path) or document.value(path) is not None:
            continue
        if isinstance(path[-1], int):
            message = "this entry is empty"
        elif ":" in path[-1]:
            message = f"`{path[-1]}` has no value: write a space after the `:`"
        else:
            message = f"`{path[-1]}` has no value: write one, or leave out the key"
        yield path, document.report(path, message)
