"""Run folders of any size by the contract: real runs, each with many more messages of the same kinds.

A real run folder is the pattern. What it has besides its messages (starts, settling, observations, the end) stays
as it is; the life of each of its messages (`send-invoked`, `sent`, `received`, `consumed`, tracks) is repeated
under new keys until there are enough. So what is ingested has the form, the sizes and the sequence of the real
thing; run, numbers, keys, offsets and times are each run's own.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.run_folder import RunFolder
from rocketchaos.harness.facts.folder_facts import (
    FACTS,
    MESSAGES,
    lines_of_messages,
    read_folder,
    write_facts,
)
from tests.benchmarks.spark.fit import GOLDEN, run_folders

SEND_EVERY_NS = 500_000
A_DAY_MS = 86_400_000
_DOCUMENTS = ("run.json", "checks.json", "outcome.json", "scenario.yaml")
_OWN = re.compile(r'"(n|mono_ns|wall_ms)": \d+')


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a history, to be filled in: `%d` number, time, wall clock; `%s` run, and the key."""

    text: str
    after_ns: int
    """Since the message was sent, or since the run began."""
    number: int
    """In the real run."""


@dataclass(frozen=True, slots=True)
class Life:
    """All that happens to one real message."""

    lines: Sequence[Line]
    fates: Sequence[str]
    """Lines of `messages.jsonl`, one for each group: `%s` key, `%d` offset, `%s` numbers of events."""
    proofs: Sequence[Sequence[int]]
    """Numbers of events in the real run, one list for each fate."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A real run, taken apart."""

    documents: Mapping[str, str]
    run: str
    wall_ms: int
    before: Sequence[Line]
    lives: Sequence[Life]
    after: Sequence[Line]


def pattern_of(folder: Path) -> Pattern | None:
    """The pattern of a real run folder; None where its messages have no lives of their own."""
    texts = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(text) for text in texts]
    fates: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for text in (folder / "messages.jsonl").read_text(encoding="utf-8").splitlines():
        fate = json.loads(text)
        fates[fate["key"]].append(fate)
    sent = {item["data"]["key"]: item["mono_ns"] for item in events if item["kind"] == "sent"}
    keys = [key for key in fates if key in sent]
    if not keys:
        return None
    began, first_sent = events[0]["mono_ns"], min(sent.values())
    by_key: dict[str, list[Line]] = {key: [] for key in keys}
    before: list[Line] = []
    after: list[Line] = []
    for text, event in zip(texts, events, strict=True):
        key = event["data"].get("key")
        since = sent[key] if key in by_key else began
        line = Line(_template(text, event, key in by_key), event["mono_ns"] - since, event["n"])
        if key in by_key:
            by_key[key].append(line)
        else:
            (before if event["mono_ns"] <= first_sent else after).append(line)
    lives = [
        Life(by_key[key], [_fate(item) for item in fates[key]], [item["events"] for item in fates[key]])
        for key in keys
    ]
    documents = {name: (folder / name).read_text(encoding="utf-8") for name in _DOCUMENTS}
    return Pattern(documents, events[0]["run"], events[0]["wall_ms"], before, lives, after)


def _template(text: str, event: Mapping[str, Any], own_key: bool) -> str:
    escaped = _OWN.sub(r'"\1": %d', text.replace("%", "%%"), count=3)
    escaped = escaped.replace(f'"run": "{event["run"]}"', '"run": "%s"', 1)
    return escaped.replace(f'"key": "{event["data"]["key"]}"', '"key": "%s"', 1) if own_key else escaped


def _fate(fate: Mapping[str, Any]) -> str:
    text = json.dumps(fate, ensure_ascii=False).replace("%", "%%")
    text = text.replace(f'"key": "{fate["key"]}"', '"key": "%s"', 1)
    text = re.sub(r'"offset": (\d+|null)', '"offset": %d', text, count=1)
    return re.sub(r'"events": \[[^]]*\]', '"events": %s', text, count=1)


def _name(number: int) -> str:
    """The name of a run."""
    return f"mx{number:012d}"


def write_run(pattern: Pattern, folder: Path, number: int, messages: int) -> None:
    """One run folder, with so many messages."""
    drawn = random.Random(number)
    run = _name(number)
    began_ns = 10**15 + number * 10**10
    wall_ms = pattern.wall_ms - number * (A_DAY_MS // 100)
    lives = [pattern.lives[number_ % len(pattern.lives)] for number_ in range(messages)]
    last_before = max(line.after_ns for line in pattern.before)
    history: list[tuple[int, str, str | None, int, int]] = [
        (line.after_ns, line.text, None, -1, line.number) for line in pattern.before
    ]
    ends_ns = last_before
    for place, life in enumerate(lives):
        sent_ns = last_before + (place + 1) * SEND_EVERY_NS
        stretch = math.exp(drawn.gauss(0.0, 0.3))
        key = f"orders-{place + 1}"
        for line in life.lines:
            # An order of one message stays as it was: all its times are stretched alike.
            at_ns = sent_ns + int(line.after_ns * stretch)
            history.append((at_ns, line.text, key, place, line.number))
            ends_ns = max(ends_ns, at_ns)
    first_after = min((line.after_ns for line in pattern.after), default=0)
    history += [
        (ends_ns + line.after_ns - first_after, line.text, None, -1, line.number) for line in pattern.after
    ]
    history.sort(key=lambda item: item[0])
    numbers: dict[tuple[int, int], int] = {}
    lines = []
    for n, (at_ns, text, own_key, place, real) in enumerate(history, 1):
        numbers[place, real] = n
        filled = (n, began_ns + at_ns, wall_ms + at_ns // 1_000_000, run)
        lines.append(text % (filled if own_key is None else (*filled, own_key)))
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "messages.jsonl").write_text("".join(_fates(lives, numbers)), encoding="utf-8")
    for name, text in pattern.documents.items():
        (folder / name).write_text(text.replace(pattern.run, run), encoding="utf-8")
    _judge(folder)


def _judge(folder: Path) -> None:
    """Write what the judge writes beside the verdict, by its own code: what witnesses say, and facts."""
    draft = folder / ".messages.draft"
    with draft.open("w", encoding="utf-8") as file:
        for line in lines_of_messages(read_folder(folder)):
            file.write(json.dumps(json.loads(line), ensure_ascii=False) + "\n")
    draft.replace(folder / MESSAGES)
    write_facts(RunFolder(folder))


def _fates(lives: Sequence[Life], numbers: Mapping[tuple[int, int], int]) -> Iterator[str]:
    for place, life in enumerate(lives):
        for text, proof in zip(life.fates, life.proofs, strict=True):
            events = [numbers.get((place, real)) or numbers.get((-1, real)) for real in proof]
            yield (
                text % (f"orders-{place + 1}", place // 4, sorted(event for event in events if event)) + "\n"
            )


def write_folders(
    target: Path,
    messages: int,
    per_run: int = 10_000,
    places: Iterable[Path] = (GOLDEN,),
    processes: int = 2,
) -> int:
    """Run folders with at least so many message facts in all; how many there are."""
    patterns = [found for found in map(pattern_of, run_folders(places)) if found is not None]
    jobs = []
    facts, number = 0, 0
    while facts < messages:
        pattern = patterns[number % len(patterns)]
        scenario = json.loads(pattern.documents["run.json"])["scenario"]
        jobs.append((pattern, target / scenario / f"{number:08d}", number, per_run))
        facts += sum(len(pattern.lives[place % len(pattern.lives)].fates) for place in range(per_run))
        number += 1
    with ProcessPoolExecutor(processes) as pool:
        for done in [pool.submit(write_run, *job) for job in jobs]:
            done.result()
    return facts


def copy_as_others(source: Path, target: Path, first: int, processes: int = 2) -> None:
    """The run folders of `source` once more, as other runs: `first` is added to their numbers."""
    with ProcessPoolExecutor(processes) as pool:
        copies = [pool.submit(_copy_run, folder, target, first) for folder in source.glob("*/*")]
        for done in copies:
            done.result()


def _copy_run(folder: Path, target: Path, first: int) -> None:
    number = int(folder.name)
    other = number + first
    copy = target / folder.parent.name / f"{other:08d}"
    copy.mkdir(parents=True)
    for file in folder.iterdir():
        if file.name != FACTS:
            (copy / file.name).write_bytes(
                file.read_bytes().replace(_name(number).encode(), _name(other).encode())
            )
    write_facts(RunFolder(copy))
