"""All facts of a run folder, made from its current files, and written into it."""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from rocketchaos.harness.core.model import SCHEMA_VERSION, MessageClass
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.facts.check_facts import check_facts
from rocketchaos.harness.facts.condition_facts import condition_facts
from rocketchaos.harness.facts.documents import ChecksDocument, Documents, OutcomeDocument, RunDocument
from rocketchaos.harness.facts.fault_facts import fault_facts
from rocketchaos.harness.facts.finding_facts import finding_facts
from rocketchaos.harness.facts.kinds import FACTS_VERSION, Fact, MessageLine, Seal
from rocketchaos.harness.facts.line_digest import digest_of, digest_of_lines, digest_text
from rocketchaos.harness.facts.log_facts import log_findings
from rocketchaos.harness.facts.observed_facts import offset_facts, ownership_facts, subscription_facts
from rocketchaos.harness.facts.run_facts import run_fact
from rocketchaos.harness.facts.seen import Seen, SeenDocument
from rocketchaos.harness.facts.story import Story, line_of
from rocketchaos.harness.facts.timing_facts import timing_facts

FACTS = "facts.jsonl"
DOCUMENTS = ("run.json", "outcome.json", "checks.json")
MESSAGES, EVENTS = "messages.jsonl", "events.jsonl"
MADE_OF = (*DOCUMENTS, MESSAGES, EVENTS)
"""The files that facts are made from; logs come in addition."""

_CLASSES = frozenset(MessageClass)
_MESSAGE = msgspec.json.Decoder(MessageLine)
_ENCODER = msgspec.json.Encoder()
D = TypeVar("D", RunDocument, OutcomeDocument, ChecksDocument)


class _Version(msgspec.Struct):
    schema_version: int | None = None


_VERSION = msgspec.json.Decoder(_Version)


@dataclass(slots=True)
class ReadFolder:
    """A run folder, gone through."""

    path: Path
    seen: Seen = field(default_factory=Seen)
    documents: Documents | None = None
    """Where all three could be read."""
    run: str | None = None
    scenario: str | None = None
    story: Story = field(default_factory=Story)
    files: dict[str, str] = field(default_factory=dict)
    """Name of a file: its digest; those that could be read."""


def read_folder(path: Path) -> ReadFolder:
    """Go through the files of a folder; their faults are in `seen`."""
    read = ReadFolder(path)
    run, outcome, checks = (
        _document(read, "run.json", RunDocument, read.seen.run),
        _document(read, "outcome.json", OutcomeDocument, read.seen.outcome),
        _document(read, "checks.json", ChecksDocument, read.seen.checks),
    )
    if run is not None:
        read.run, read.scenario, read.seen.ended = run.run, run.scenario, run.ended is not None
    if outcome is not None:
        read.seen.outcome_kind, read.seen.trouble = outcome.outcome, outcome.trouble
    if checks is not None:
        read.seen.last_event_of_checks = max(
            (n for item in checks.checks for n in item.events or ()), default=None
        )
    if run is not None and outcome is not None and checks is not None:
        read.documents = Documents(run=run, outcome=outcome, checks=checks)
    _read_events(read)
    _read_messages(read)
    return read


def facts_of(read: ReadFolder) -> Iterator[Fact]:
    """All facts of a folder that is fit, except for the seal."""
    assert read.documents is not None
    documents, story = read.documents, read.story
    yield run_fact(documents, story, read.seen.message_count)
    yield from subscription_facts(story)
    yield from ownership_facts(story)
    yield from offset_facts(story)
    yield from fault_facts(story)
    yield from check_facts(documents.checks)
    logs = () if documents.as_it_should_be else log_findings(read.path / "logs", documents.run.run)
    yield from finding_facts(documents, story, logs)
    yield from timing_facts(story)
    yield from condition_facts(documents.run, story)


def lines_of_facts(read: ReadFolder, files: Mapping[str, str]) -> bytes:
    """`facts.jsonl`; `files` are the digests that the seal tells."""
    lines = [_ENCODER.encode(item) for item in facts_of(read)]
    seal = Seal(facts_version=FACTS_VERSION, files={**files, FACTS: digest_of_lines(lines)})
    return b"\n".join([*lines, _ENCODER.encode(seal), b""])


def lines_of_messages(read: ReadFolder) -> Iterator[bytes]:
    """The lines of `messages.jsonl` with what the witnesses say, which folders of older versions lack."""
    witnesses = read.story.witnesses
    for _, text in _lines(read, MESSAGES):
        item = _MESSAGE.decode(text)
        whole = msgspec.structs.replace(
            item,
            delivery_ms=witnesses.delivery_ms(item.key, item.group) if item.deliveries else None,
            broker_track=witnesses.broker_track(item.key, item.group),
            dashboard_track=witnesses.dashboard_track(item.key, item.group),
        )
        yield _ENCODER.encode(whole)


def write_facts(folder: RunFolder) -> None:
    """Write `facts.jsonl`, last of all files; a folder that isn't fit has none.

    Raises:
        EnvironmentNotReady: it can't be written.
    """
    read = read_folder(folder.path)
    if read.seen.fit and read.documents is not None:
        folder.write_text(FACTS, lines_of_facts(read, read.files).decode("utf-8"))
    else:
        (folder.path / FACTS).unlink(missing_ok=True)


def _lines(read: ReadFolder, name: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that aren't blank, with their numbers; once through, its digest is known."""

    count = total = 0

    def summed(file: Iterable[bytes]) -> Iterator[bytes]:
        nonlocal count, total
        for line in file:
            text = line.removesuffix(b"\n")
            count += 1
            total += zlib.crc32(text)
            yield text

    with suppress(OSError), (read.path / name).open("rb") as file:
        yield from ((number, text) for number, text in enumerate(summed(file), 1) if text.strip())
        read.files[name] = digest_text(count, total)


def _document(read: ReadFolder, name: str, kind: type[D], seen: SeenDocument) -> D | None:
    try:
        text = (read.path / name).read_bytes()
    except OSError:
        return None
    seen.read = bool(text)
    read.files[name] = digest_of(text)
    try:
        seen.schema_version = _VERSION.decode(text).schema_version
        document = msgspec.json.decode(text, type=kind)
        text.decode("utf-8")
    except (ValueError, RecursionError):
        return None
    seen.broken = False
    return document


def _read_events(read: ReadFolder) -> None:
    seen, expected = read.seen, 1
    for number, text in _lines(read, EVENTS):
        seen.event_count += 1
        try:
            line, body = line_of(text)
        except (ValueError, RecursionError):
            seen.broken_events += 1
            seen.first_broken_event = seen.first_broken_event or number
            continue
        seen.in_order &= line.n == expected
        expected = line.n + 1
        seen.events_of_another_run += read.run is not None and line.run != read.run
        seen.events_of_other_schema += line.schema_version not in (None, SCHEMA_VERSION)
        seen.ends += line.kind in ("run-ended", "trouble")
        if line.n == 1:
            seen.first_wall_ms = line.wall_ms
        read.story.add(line.n, line.mono_ns, line.wall_ms, line.node, body)


def _read_messages(read: ReadFolder) -> None:
    seen = read.seen
    rows: dict[tuple[str, str], int] = defaultdict(int)
    keys: dict[tuple[str, str], int] = defaultdict(int)
    for number, text in _lines(read, MESSAGES):
        seen.message_count += 1
        item = _message(seen, text, number)
        if item is not None:
            rows[item.group, item.topic] += 1
            keys[item.group, item.topic] ^= hash(item.key)
            seen.last_event_of_messages = max((*item.events, seen.last_event_of_messages or 0))
    story = read.story
    groups = story.groups
    for group, topic in {*rows, *story.consumed_topics}:
        there, sent = rows[group, topic], story.sent[topic]
        seen.missing_messages += max(sent - there, 0)
        seen.surplus_messages += max(there - sent, 0)
        seen.other_keys += there == sent > 0 and keys[group, topic] != story.sent_keys[topic]
    seen.strange_groups = tuple(sorted({group for group, _ in rows} - groups))


def _message(seen: Seen, text: bytes, number: int) -> MessageLine | None:
    try:
        if not text.isascii():
            text.decode("utf-8")
        if _VERSION.decode(text).schema_version not in (None, SCHEMA_VERSION):
            seen.messages_of_other_schema += 1
            return None
        item = _MESSAGE.decode(text)
        if item.message_class not in _CLASSES:
            # It would count among the messages, and in no class.
            raise ValueError(item.message_class)
    except (ValueError, RecursionError):
        seen.broken_messages += 1
        seen.first_broken_message = seen.first_broken_message or number
        return None
    return item
