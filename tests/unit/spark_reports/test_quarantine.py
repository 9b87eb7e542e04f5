"""Which folders are fit, and the first and worst reason where one isn't."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketchaos.harness.facts.folder_facts import MADE_OF
from rocketchaos.harness.facts.seen import Seen, SeenDocument
from rocketchaos.spark_reports.ingest.folder_list import File, Folder
from rocketchaos.spark_reports.ingest.quarantine import KINDS, Problem, problem_of

FOLDER = Folder("file:/a place/runs/s/20261121T192459.680-7", {name: File(10, 1) for name in MADE_OF})
FIT = SeenDocument(read=True, broken=False, schema_version=1)
WHOLE = Seen(
    run=FIT,
    outcome=FIT,
    checks=FIT,
    ended=True,
    outcome_kind="reproduced",
    last_event_of_checks=70,
    event_count=75,
    ends=1,
    message_count=8,
    last_event_of_messages=75,
)


def problem(folder: Folder = FOLDER, **changes: object) -> Problem:
    seen = replace(WHOLE, **changes)  # type: ignore[arg-type]
    found = problem_of(folder, seen)
    assert found is not None
    assert found.kind in KINDS
    # What the listing shows alone is no matter of the judge.
    assert not seen.fit or folder is not FOLDER or "message_count" in changes
    return found


def without(*names: str) -> Folder:
    return replace(FOLDER, files={name: File(10, 1) for name in MADE_OF if name not in names})


def test_a_whole_folder_is_fit() -> None:
    assert problem_of(FOLDER, WHOLE) is None
    assert WHOLE.fit


@pytest.mark.parametrize("name", MADE_OF)
def test_every_file_must_be_there(name: str) -> None:
    found = problem(folder=without(name))
    assert (found.kind, found.file) == ("missing-file", name)


def test_a_file_that_can_be_made_anew_is_and_a_history_is_run_again() -> None:
    assert "`rocketchaos check '/a place/runs/s/" in problem(folder=without("checks.json")).reason
    assert "`rocketchaos reproduce '/a place/runs/s/" in problem(folder=without("events.jsonl")).reason


def test_without_outcome_and_end_it_still_runs() -> None:
    found = problem(folder=without("outcome.json", "checks.json", "messages.jsonl"), ended=False)
    assert (found.kind, found.file) == ("still-running", "outcome.json")


def test_a_killed_run_that_was_judged_is_reported_by_its_history() -> None:
    assert problem_of(FOLDER, replace(WHOLE, ended=False)) is None
    assert problem(ended=False, ends=0).kind == "truncated"


@pytest.mark.parametrize("name", ["run", "outcome", "checks"])
def test_documents_must_be_whole_and_of_this_schema(name: str) -> None:
    unread = problem(**{name: replace(FIT, read=False)})
    assert (unread.kind, unread.passing) == ("missing-file", True)
    assert problem(**{name: replace(FIT, broken=True)}).kind == "broken-json"
    found = problem(**{name: replace(FIT, schema_version=2)})
    assert (found.kind, found.file) == ("other-schema", f"{name}.json")


@pytest.mark.parametrize(
    ("changes", "kind", "file"),
    [
        ({"event_count": 0, "ends": 0}, "missing-file", "events.jsonl"),
        ({"broken_events": 1, "ends": 0}, "truncated", "events.jsonl"),
        ({"broken_events": 1}, "broken-json", "events.jsonl"),
        ({"in_order": False}, "truncated", "events.jsonl"),
        ({"ends": 0}, "truncated", "events.jsonl"),
        ({"events_of_other_schema": 1}, "other-schema", "events.jsonl"),
        ({"events_of_another_run": 1}, "contradiction", "events.jsonl"),
        ({"first_wall_ms": 9 * 10**15}, "contradiction", "events.jsonl"),
        ({"message_count": 0}, "missing-file", "messages.jsonl"),
        ({"broken_messages": 2}, "broken-json", "messages.jsonl"),
        ({"messages_of_other_schema": 2}, "other-schema", "messages.jsonl"),
        ({"strange_groups": ("h",)}, "contradiction", "messages.jsonl"),
        ({"surplus_messages": 1}, "contradiction", "messages.jsonl"),
        ({"missing_messages": 1}, "truncated", "messages.jsonl"),
        ({"missing_messages": 1, "trouble": "harness"}, "truncated", "messages.jsonl"),
        ({"other_keys": 1}, "contradiction", "messages.jsonl"),
        ({"last_event_of_messages": 76}, "contradiction", "messages.jsonl"),
        ({"last_event_of_checks": 76}, "contradiction", "checks.json"),
        ({"outcome_kind": "passed"}, "contradiction", "outcome.json"),
    ],
)
def test_every_reason_has_its_kind_and_file(changes: dict[str, object], kind: str, file: str) -> None:
    found = problem(**changes)
    assert (found.kind, found.file) == (kind, file)


def test_an_empty_history_is_truncated() -> None:
    files = {**FOLDER.files, "events.jsonl": File(0, 1)}
    found = problem(folder=replace(FOLDER, files=files), event_count=0, in_order=False, ends=0)
    assert found.kind == "truncated"
    assert "empty" in found.reason


def test_no_messages_at_all_are_no_problem() -> None:
    files = {**FOLDER.files, "messages.jsonl": File(0, 1)}
    folder = replace(FOLDER, files=files)
    assert problem_of(folder, replace(WHOLE, message_count=0)) is None


def test_a_history_that_the_oracle_could_not_read_has_no_messages() -> None:
    files = {**FOLDER.files, "messages.jsonl": File(0, 1)}
    folder = replace(FOLDER, files=files)
    unjudged = replace(WHOLE, message_count=0, missing_messages=8, outcome_kind="error")
    assert problem_of(folder, replace(unjudged, trouble="harness")) is None
    assert replace(unjudged, trouble="harness").fit
    assert not unjudged.fit
    found = problem_of(folder, unjudged)
    assert found is not None
    assert found.kind == "truncated"


def test_the_worst_comes_first() -> None:
    found = problem(run=replace(FIT, broken=True), in_order=False, strange_groups=("h",))
    assert (found.kind, found.file) == ("broken-json", "run.json")


def test_without_run_json_nobody_knows_the_version_that_ran() -> None:
    files = {name: file for name, file in FOLDER.files.items() if name != "run.json"}
    found = problem(folder=replace(FOLDER, files=files))
    assert (found.kind, found.file) == ("missing-file", "run.json")
    assert found.reason.endswith("only run.json has those of this run")
    assert "only run.json" not in problem(in_order=False).reason
