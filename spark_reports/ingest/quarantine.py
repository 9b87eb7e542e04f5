"""Which folders can't become facts, and why: the first and worst reason, with the way out. Pure."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from rocketchaos.harness.core.model import SCHEMA_VERSION, OutcomeKind, Trouble
from rocketchaos.harness.facts.seen import LAST_WALL_MS, Seen, SeenDocument
from rocketchaos.spark_reports.ingest.folder_list import Folder
from rocketchaos.spark_reports.tables import AGED, COPY

MISSING, BROKEN, OTHER, TRUNCATED, RUNNING, CONTRADICTION, GONE = KINDS = (
    "missing-file",
    "broken-json",
    "other-schema",
    "truncated",
    "still-running",
    "contradiction",
    "gone",
)
"""Kinds of reasons."""
_MADE_ANEW = ("outcome.json", "checks.json", "messages.jsonl")
"""What `rocketchaos check` writes, from the history."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a folder can't become facts."""

    kind: str
    file: str | None
    reason: str
    line: int | None = None
    passing: bool = False
    """No listing shows the problem (such as missing rights to read): an ingest always reads the folder again."""


def problem_of(folder: Folder, seen: Seen) -> Problem | None:
    """The first and worst reason, from the folder's listing and its contents; None: the folder is fine."""
    return next(_problems(folder, seen), None)


def changed() -> Problem:
    """The problem of a folder that was written to while it was read."""
    return Problem(
        RUNNING, None, "it was being written while it was read; ingest it again when the run is over"
    )


def gone() -> Problem:
    """The problem of a folder that was removed while it was read."""
    return Problem(GONE, None, "it was removed while it was read; ingest it where it is now", passing=True)


def copy_of(other: str) -> Problem:
    """The problem entry of a folder whose run is already counted from another folder."""
    return Problem(COPY, None, f"{other} has the same run, judged no earlier: that one counts")


def aged() -> Problem:
    """It is older than what the store keeps, which is no problem."""
    return Problem(AGED, None, "it is older than what the store keeps (`rocketchaos report tidy --keep`)")


def _problems(folder: Folder, seen: Seen) -> Iterator[Problem]:
    run = shlex.quote(folder.source.removeprefix("file:"))
    check, repeat = (
        f"`rocketchaos check {run}` makes it again",
        f"`rocketchaos reproduce {run}` runs it again",
    )
    if folder.problem is not None:
        reason = f"the folder can't be listed: {folder.problem}; let this user read it"
        yield Problem(MISSING, None, reason, passing=True)
    yield from _document(
        folder,
        "run.json",
        seen.run,
        f"{repeat}, perhaps with another RocketMQ or client: only run.json has those of this run",
    )
    if "outcome.json" not in folder.files and not seen.ended:
        yield Problem(
            RUNNING,
            "outcome.json",
            f"it has not ended: ingest it again when it has; if its harness was killed, {repeat}",
        )
    yield from _document(folder, "outcome.json", seen.outcome, check)
    yield from _document(folder, "checks.json", seen.checks, check)
    if seen.outcome_kind not in list(OutcomeKind):
        yield Problem(CONTRADICTION, "outcome.json", f"`{seen.outcome_kind}` is no outcome; {check}")
    for name, count in (("messages.jsonl", seen.message_count), ("events.jsonl", seen.event_count)):
        way_out = check if name in _MADE_ANEW else repeat
        if name not in folder.files:
            yield Problem(MISSING, name, f"there is no {name}; {way_out}")
        elif count == 0 and folder.files[name].size > 0:
            reason = f"nothing of {name} can be read; let this user read it, or, if it is blank: {way_out}"
            yield Problem(MISSING, name, reason, passing=True)
    yield from _history(seen, repeat)
    yield from _messages(seen, check)


def _document(folder: Folder, name: str, document: SeenDocument, way_out: str) -> Iterator[Problem]:
    if name not in folder.files:
        yield Problem(MISSING, name, f"there is no {name}; {way_out}")
    elif not document.read and folder.files[name].size > 0:
        yield Problem(MISSING, name, f"{name} can't be read; let this user read it", passing=True)
    elif document.broken:
        yield Problem(BROKEN, name, f"{name} is no JSON of a run folder; {way_out}")
    elif document.schema_version != SCHEMA_VERSION:
        yield _other(name, document.schema_version)


def _broken(name: str, reason: str, line: int | None) -> Problem:
    return Problem(BROKEN, name, f"{reason} (the first is line {line})", line)


def _other(name: str, version: int | None) -> Problem:
    had = "another schema_version" if version is None else f"schema_version {version}"
    return Problem(
        OTHER,
        name,
        f"{name} has {had}, and this rocketchaos reads {SCHEMA_VERSION}; ingest it with the one that wrote it",
    )


def _history(seen: Seen, repeat: str) -> Iterator[Problem]:
    name = "events.jsonl"
    if seen.event_count == 0:
        yield Problem(TRUNCATED, name, f"the history is empty: the harness was killed; {repeat}")
    if seen.events_of_other_schema:
        yield _other(name, None)
    if seen.broken_events == 1 and seen.in_order and not seen.ends:
        yield Problem(
            TRUNCATED, name, f"the last line is cut: the harness was killed, or the disk full; {repeat}"
        )
    if seen.broken_events:
        yield _broken(
            name, f"lines that are no events: {seen.broken_events}; {repeat}", seen.first_broken_event
        )
    if not seen.in_order:
        yield Problem(TRUNCATED, name, f"events are missing, or there twice; {repeat}")
    if not seen.ends:
        yield Problem(
            TRUNCATED,
            name,
            f"the history stops before the end of the run: the harness was killed, or crashed; {repeat}",
        )
    if seen.first_wall_ms is not None and not 0 <= seen.first_wall_ms <= LAST_WALL_MS:
        yield Problem(CONTRADICTION, name, f"it begins at {seen.first_wall_ms} ms of Unix time; {repeat}")
    if seen.events_of_another_run:
        yield Problem(CONTRADICTION, name, f"its events are another run's than run.json's; {repeat}")


def _messages(seen: Seen, check: str) -> Iterator[Problem]:
    name = "messages.jsonl"
    if seen.messages_of_other_schema:
        yield _other(name, None)
    if seen.broken_messages:
        reason = f"lines that are no messages, or of a class that is none: {seen.broken_messages}; {check}"
        yield _broken(name, reason, seen.first_broken_message)
    if seen.strange_groups:
        groups = ", ".join(seen.strange_groups[:3])
        yield Problem(CONTRADICTION, name, f"the history knows no group {groups}; {check}")
    if seen.surplus_messages:
        yield Problem(
            CONTRADICTION,
            name,
            f"groups have more messages than were sent, or to other topics: {seen.surplus_messages}; {check}",
        )
    # Where the oracle could not read the history, it has written none (`assertions.judge`).
    unjudged = seen.message_count == 0 and seen.trouble == Trouble.HARNESS
    if seen.missing_messages and not unjudged:
        yield Problem(
            TRUNCATED,
            name,
            f"messages that were sent are missing for groups that consume them: {seen.missing_messages}; {check}",
        )
    if seen.other_keys:
        yield Problem(CONTRADICTION, name, f"its keys are others than were sent; {check}")
    for file, last in ((name, seen.last_event_of_messages), ("checks.json", seen.last_event_of_checks)):
        if last is not None and last > seen.event_count:
            yield Problem(
                CONTRADICTION, file, f"it cites event {last}, and there are {seen.event_count}; {check}"
            )
