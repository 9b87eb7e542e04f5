"""Run folders for tests that are broken, each in a way of its own."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from tests.spark.folders import TAGS, copy

JUMP_MS = 3_600_000
"""So far the wall clock of `late` jumps."""


def change(folder: Path, name: str, edit: Callable[[list[str]], list[str]]) -> None:
    """Edit the lines of a file; `\\udcff` is the byte 0xff, which is no UTF-8."""
    file = folder / name
    lines = file.read_text(errors="surrogateescape").splitlines(keepends=True)
    file.write_text("".join(edit(lines)), errors="surrogateescape")


def set_in(folder: Path, name: str, **fields: object) -> None:
    file = folder / name
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def late(all_lines: list[str]) -> list[str]:
    """The wall clock jumps in the middle."""
    events = [json.loads(line) for line in all_lines]
    return [
        json.dumps(event | {"wall_ms": event["wall_ms"] + JUMP_MS * (event["n"] > 40)}) + "\n"
        for event in events
    ]


def _in_first(sign: str, old: str, new: str) -> Callable[[list[str]], list[str]]:
    """Edits the first line that has this sign."""

    def edit(all_: list[str]) -> list[str]:
        at = next(number for number, line in enumerate(all_) if sign in line)
        assert old in all_[at]
        return [*all_[:at], all_[at].replace(old, new), *all_[at + 1 :]]

    return edit


def broken_folders(runs: Path) -> dict[str, tuple[str, str | None, int | None]]:
    """Name of the folder: the kind, the file and the line of what is broken in it."""

    def make(token: str) -> Path:
        return copy(runs, TAGS, token)

    (make("missing") / "checks.json").unlink()
    (make("garbage") / "outcome.json").write_bytes(bytes(range(256)) * 9)
    (make("empty") / "run.json").write_text("")
    change(make("noise"), "events.jsonl", lambda all_: [*all_[:4], "\x00\xff noise\n", *all_[5:]])
    change(
        make("bytes"),
        "events.jsonl",
        lambda all_: [*all_[:6], all_[6].replace('"node": "', '"node": "\udcff'), *all_[7:]],
    )
    change(
        make("bytes-of-messages"),
        "messages.jsonl",
        lambda all_: [*all_[:3], all_[3].replace('"key": "', '"key": "\udcff'), *all_[4:]],
    )
    change(make("cut"), "events.jsonl", lambda all_: [*all_[:-1], all_[-1][:30]])
    change(make("gap"), "events.jsonl", lambda all_: all_[:9] + all_[10:])
    change(make("unended"), "events.jsonl", lambda all_: all_[:-5])
    change(make("half"), "messages.jsonl", lambda all_: [all_[0], all_[1][:40] + "\n", *all_[2:]])
    change(
        make("newer"),
        "messages.jsonl",
        lambda all_: [line.replace('"schema_version": 1', '"schema_version": 2') for line in all_],
    )
    change(
        make("strange"), "messages.jsonl", lambda all_: [line.replace('"g"', '"strange"') for line in all_]
    )
    change(make("another"), "events.jsonl", lambda all_: [line.replace("another", "other") for line in all_])
    # At the end of a line: what is there is sound, each line by itself.
    change(make("short"), "messages.jsonl", lambda all_: all_[:-1])
    change(make("double"), "messages.jsonl", lambda all_: [*all_[:-1], all_[0]])
    make("removed")
    # Of two folders of one run the one that was judged last is broken.
    torn = make("torn")
    shutil.copytree(torn, runs / "copies" / "torn")
    (torn / "checks.json").write_text("{")
    os.utime(torn / "outcome.json", (later := time.time() + 60, later))
    change(make("twice"), "messages.jsonl", lambda all_: all_ * 2)
    # Each by itself an event or a message, and no fact can be made of it.
    change(make("no-group"), "events.jsonl", _in_first('"consumer-started"', '"group": "g", ', ""))
    change(make("before-boot"), "events.jsonl", _in_first('"n": 3,', '"mono_ns": ', '"mono_ns": -'))
    change(make("after-all-time"), "events.jsonl", _in_first('"n": 1,', '"mono_ns": ', '"mono_ns": 90000'))
    change(make("no-class"), "messages.jsonl", _in_first('"delivered"', '"delivered"', '"Delivered"'))
    running = make("running")
    set_in(running, "run.json", ended=None, seconds=None)
    for name in ("outcome.json", "checks.json", "messages.jsonl"):
        (running / name).unlink()
    return {
        "missing": ("missing-file", "checks.json", None),
        "garbage": ("broken-json", "outcome.json", None),
        "empty": ("broken-json", "run.json", None),
        "noise": ("broken-json", "events.jsonl", 5),
        "bytes": ("broken-json", "events.jsonl", 7),
        "bytes-of-messages": ("broken-json", "messages.jsonl", 4),
        "cut": ("truncated", "events.jsonl", None),
        "gap": ("truncated", "events.jsonl", None),
        "unended": ("truncated", "events.jsonl", None),
        "half": ("broken-json", "messages.jsonl", 2),
        "newer": ("other-schema", "messages.jsonl", None),
        "strange": ("contradiction", "messages.jsonl", None),
        "another": ("contradiction", "events.jsonl", None),
        "twice": ("contradiction", "messages.jsonl", None),
        "short": ("truncated", "messages.jsonl", None),
        "double": ("contradiction", "messages.jsonl", None),
        "no-group": ("broken-json", "events.jsonl", 7),
        "before-boot": ("broken-json", "events.jsonl", 3),
        "after-all-time": ("broken-json", "events.jsonl", 1),
        "no-class": ("broken-json", "messages.jsonl", 3),
        "removed": ("gone", None, None),
        "torn": ("broken-json", "checks.json", None),
        "running": ("still-running", "outcome.json", None),
    }
