"""The rows that golden runs had in a store before the judge made facts, by digests: `tests/recorded_rows.json`.

Recorded once, from the code of that time, by an ingest of `corpus`; facts and ingests must give the same ones. A
golden run that is recorded again loses its entries here; one whose checks, or reasons of messages, have new words
loses that of its `checks` or `messages`. The `findings` of runs with logs were recorded again on 2026-11-30, when
signatures of lines of logs lost their heads.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent / "golden" / "runs"
FILE = Path(__file__).parent / "recorded_rows.json"
_LOG = """\
2026-11-21 21:51:18.983 ERROR Thread_12 - no disk for g-{run} at 127.0.0.1:30123
2026-11-21 21:51:19.007 ERROR Thread_7 - no disk for g-{run} at 127.0.0.1:30124
2026-11-21 21:51:19.010 ERROR Thread_7 - no disk for g-mwqxztiaupsjsm at 127.0.0.1:30124
WARN x timed out [fe80::1]:99 id 0xff @1b2c3d 00000000-0000-0000-0000-00000000000a FD00000276CB4E0E
java.lang.Foo.BarException: q
"""

_CAME_SINCE = {"scenario_owner"}
"""Columns that the rows of that time did not have: older folders can't tell them."""

Digests = Mapping[str, Mapping[str, tuple[int, str]]]
"""Run: table: how many rows it has, and their digest."""


def corpus(target: Path) -> list[Path]:
    """Each golden run as it is, and as another run that is not as expected, with logs."""
    return [
        folder
        for source in sorted(GOLDEN.iterdir())
        for folder in (_copy(source, target / "as", "00"), _wrong(_copy(source, target / "wrong", "01")))
    ]


def digests(rows: Iterable[tuple[str, str, Mapping[str, Any]]]) -> Digests:
    """Of rows with their table and their run; times are exact to the nanosecond, and their fractions are not."""
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for table, run, row in rows:
        plain = {
            name: round(value, 6) if isinstance(value, float) else value
            for name, value in row.items()
            if value is not None or name not in _CAME_SINCE
        }
        texts[run, table].append(json.dumps(plain, sort_keys=True, ensure_ascii=False))
    found: dict[str, dict[str, tuple[int, str]]] = defaultdict(dict)
    for (run, table), own in sorted(texts.items()):
        digest = hashlib.sha256("\n".join(sorted(own)).encode()).hexdigest()[:16]
        found[run][table] = (len(own), digest)
    return found


def recorded() -> Digests:
    """As they were."""
    known = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        run: {table: (count, digest) for table, (count, digest) in of.items()} for run, of in known.items()
    }


def as_recorded(found: Digests) -> Digests:
    """Of what was found, the tables and runs that are recorded; others are younger."""
    return {run: {table: found[run][table] for table in tables} for run, tables in recorded().items()}


def _copy(source: Path, target: Path, ending: str) -> Path:
    run = json.loads((source / "run.json").read_text(encoding="utf-8"))["run"]
    other = run[:-2] + ending
    folder = target / source.name / other
    folder.mkdir(parents=True)
    for file in source.iterdir():
        text = file.read_text(encoding="utf-8").replace(run, other)
        (folder / file.name).write_text(text, encoding="utf-8")
    return folder


def _wrong(folder: Path) -> Path:
    file = folder / "outcome.json"
    outcome = json.loads(file.read_text(encoding="utf-8"))
    outcome |= {"as_expected": False, "expected": outcome["expected"] or "reproduced"}
    if folder.parent.name.startswith("s"):
        outcome |= {"outcome": "error", "trouble": "environment"}
    file.write_text(json.dumps(outcome), encoding="utf-8")
    (folder / "logs" / "a").mkdir(parents=True)
    (folder / "logs" / "broker-a.log").write_text(_LOG.format(run=folder.name), encoding="utf-8")
    (folder / "logs" / "a" / "c.txt").write_text("FATAL orders-1, orders-2, orders-3   lost 1.2.3\n")
    return folder
