"""What a night found stands in the run's record and in its facts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from rocketchaos.harness.nightly.codes import CODES
from rocketchaos.harness.nightly.findings import NightlyFinding
from rocketchaos.harness.nightly.invariants import Breach
from rocketchaos.harness.nightly.night import note_findings
from tests.recorded_rows import GOLDEN

FOUND = [
    NightlyFinding("lost", Breach("g", "lost-agree", text, (1,)))
    for text in ("orders-1 is lost", "orders-2 is lost")
]


def noted(target: Path, found: Sequence[NightlyFinding]) -> Path:
    folder = target / "run"
    shutil.copytree(next(GOLDEN.iterdir()), folder)
    note_findings(folder, found)
    return folder


def facts(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "facts.jsonl").read_text().splitlines()]


def test_the_code_is_in_the_record_once_and_the_facts_have_it(tmp_path: Path) -> None:
    folder = noted(tmp_path, FOUND)
    record = json.loads((folder / "run.json").read_text())
    assert record["nightly"] == {"findings": [{"code": "lost-agree", "words": CODES["lost-agree"].signature}]}
    (fact,) = (item for item in facts(folder) if item.get("kind") == "invariant")
    assert (fact["signature"], fact["side"]) == ("lost-agree", "product")
    assert facts(folder)[-1]["fact"] == "seal"


def test_a_run_without_findings_stays_as_it_is(tmp_path: Path) -> None:
    folder = noted(tmp_path, [])
    assert (folder / "run.json").read_bytes() == (next(GOLDEN.iterdir()) / "run.json").read_bytes()


def test_a_run_without_a_record_is_passed_over(tmp_path: Path) -> None:
    note_findings(tmp_path, FOUND)
    assert list(tmp_path.iterdir()) == []
