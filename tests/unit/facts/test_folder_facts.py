"""Facts of whole folders: the same rows as before there were any, sealed, and made anew by `check`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rocketchaos.harness.cli.check import check
from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.facts.folder_facts import (
    FACTS,
    MADE_OF,
    facts_of,
    lines_of_messages,
    read_folder,
    write_facts,
)
from rocketchaos.harness.facts.kinds import FACTS_VERSION, KINDS, Seal, word_of
from rocketchaos.harness.facts.line_digest import digest_of
from tests.recorded_rows import as_recorded, corpus, digests, recorded
from tests.unit.facts.histories import GOLDEN

TAGS = "same-group-different-tags"
TABLES = {word_of(kind): f"{word_of(kind)}s" for kind in KINDS} | {"ownership": "ownership"}
STORED_AS = {"group": "consumer_group", "key": "message_key", "offset": "queue_offset"}
IN_TIME = {"started_wall_ms": "started", "ended_wall_ms": "ended"}


def rows_of(folder: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    read = read_folder(folder)
    for fact in facts_of(read):
        own = json.loads(msgspec.json.encode(fact))
        table = TABLES[own.pop("fact")]
        if table == "runs":
            del own["run"]
        yield table, str(read.run), {IN_TIME.get(name, name): value for name, value in own.items()}
    for text in lines_of_messages(read):
        own = json.loads(text)
        del own["schema_version"]
        yield "messages", str(read.run), {STORED_AS.get(name, name): value for name, value in own.items()}


def test_the_rows_of_golden_runs_are_those_that_spark_made_of_them(tmp_path: Path) -> None:
    found = digests(row for folder in corpus(tmp_path) for row in rows_of(folder))
    assert as_recorded(found) == recorded()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    target = tmp_path / TAGS
    target.mkdir()
    for file in (GOLDEN / TAGS).iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    return target


def facts(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / FACTS).read_text().splitlines()]


def test_check_makes_facts_and_messages_anew(folder: Path) -> None:
    check([folder])
    before, messages = facts(folder), (folder / "messages.jsonl").read_bytes()
    assert before[0]["fact"] == "run"
    assert {item["fact"] for item in before} >= {"subscription", "ownership", "offset", "check", "condition"}
    lines = [json.loads(line) for line in messages.splitlines()]
    assert sum(item["delivery_ms"] is not None for item in lines) == 4
    assert {item["broker_track"] for item in lines} == {"CONSUMED"}
    (folder / FACTS).write_text("something else\n")
    (folder / "messages.jsonl").write_text("")
    check([folder])
    assert facts(folder) == before
    assert (folder / "messages.jsonl").read_bytes() == messages


def test_what_ingest_makes_of_an_old_folder_is_what_the_judge_writes(folder: Path) -> None:
    old = [json.loads(line) for line in lines_of_messages(read_folder(folder))]
    check([folder])
    assert [json.loads(line) for line in (folder / "messages.jsonl").read_text().splitlines()] == old


def test_the_seal_tells_of_what_the_facts_were_made(folder: Path) -> None:
    write_facts(RunFolder(folder))
    *others, seal = (folder / FACTS).read_bytes().splitlines(keepends=True)
    seal_fact = msgspec.json.decode(seal, type=Seal)
    assert seal_fact.facts_version == FACTS_VERSION
    assert seal_fact.files == {
        **{name: digest_of((folder / name).read_bytes()) for name in MADE_OF},
        FACTS: digest_of(b"".join(others)),
    }


@pytest.mark.parametrize("name", MADE_OF)
def test_a_digest_sees_every_change(folder: Path, name: str) -> None:
    before = read_folder(folder).files[name]
    text = (folder / name).read_bytes()
    for other in (text[:-2], text + b"\n", text.replace(b"1", b"2", 1), text.replace(b"\n", b"\r\n", 1)):
        assert digest_of(other) != before
    assert digest_of(text.removesuffix(b"\n")) == digest_of(text) == before


def test_a_folder_that_is_not_fit_has_no_facts(folder: Path) -> None:
    write_facts(RunFolder(folder))
    history = (folder / "events.jsonl").read_text().splitlines(keepends=True)
    (folder / "events.jsonl").write_text("".join(history[:-5]))
    write_facts(RunFolder(folder))
    assert not (folder / FACTS).exists()
