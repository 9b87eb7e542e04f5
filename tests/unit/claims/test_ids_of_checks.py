"""A check is known by what it states, in the words of the language; its title is for people."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketchaos.assertions.delivered import Delivered
from rocketchaos.harness.claims.diff import differences
from rocketchaos.harness.claims.evidence import RunSeen, read_evidence, write_evidence
from rocketchaos.harness.claims.runs import seen_in_folder
from rocketchaos.harness.claims.verdicts import tendencies, verdicts
from rocketchaos.harness.core.model import SECTIONS, Holds
from tests.unit.claims.golden import RUNS, again, answering, golden
from tests.unit.library import library

TENDENCY = "\ntendency:\n  - delivered: {to: b, count: 4, claim: A02}\n"
ID = 'delivered {"count":4,"to":"b"}'
NAME = "same-group-different-tags"


def race() -> RunSeen:
    return golden(NAME, more=TENDENCY)


@pytest.fixture
def reworded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Delivered, "title", lambda _self: "got what was sent")


def before_ids(run: RunSeen) -> RunSeen:
    return replace(run, checks=tuple(replace(check, id="") for check in run.checks))


def test_another_title_changes_no_tendency(monkeypatch: pytest.MonkeyPatch) -> None:
    first = race()
    monkeypatch.setattr(Delivered, "title", lambda _self: "got what was sent")
    other = again(race(), 2, answering("A02", Holds.NO))
    (share,) = tendencies("A02", [first, other])
    assert (share.id, share.held, share.total) == (ID, 1, 2)


def test_checks_of_one_title_that_state_different_things_are_two(reworded: None) -> None:
    more = f"{TENDENCY}  - delivered: {{to: b, count: 0, claim: A02}}\n"
    assert [tendency.held for tendency in tendencies("A02", [golden(NAME, more=more)])] == [0, 1]


def test_another_title_makes_no_verdicts_incomparable(monkeypatch: pytest.MonkeyPatch) -> None:
    often = [again(race(), number) for number in range(20)]
    monkeypatch.setattr(Delivered, "title", lambda _self: "got what was sent")
    never = [again(race(), number, answering("A02", Holds.NO)) for number in range(20)]
    (change,) = differences(verdicts(often), verdicts(never)).changes
    assert change.why.endswith("before 20 of 20")


def test_evidence_of_before_checks_had_ids_counts_with_later_runs(tmp_path: Path) -> None:
    write_evidence(tmp_path, [race()])
    (file,) = tmp_path.glob("*/*.jsonl")
    rows: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()]
    assert any(row.get("id") == ID for row in rows)
    file.write_text("".join(json.dumps({k: v for k, v in row.items() if k != "id"}) + "\n" for row in rows))
    (old,) = read_evidence(tmp_path)
    assert {check.id for check in old.checks} == {""}
    (share,) = tendencies("A02", [old, again(race(), 2)])
    assert (share.id, share.total) == (ID, 2)
    olds = [again(before_ids(race()), number) for number in range(20)]
    never = [again(race(), number, answering("A02", Holds.NO)) for number in range(20)]
    assert len(differences(verdicts(olds), verdicts(never)).changes) == 1


def test_a_run_folder_of_before_checks_had_ids_has_them_by_its_scenario(tmp_path: Path) -> None:
    folder = tmp_path / NAME / "1"
    shutil.copytree(RUNS / NAME, folder)
    document = json.loads((folder / "checks.json").read_text())
    for check in document["checks"]:
        check.pop("id", None)
        check["name"] = "as it was told then"
    (folder / "checks.json").write_text(json.dumps(document))
    found = {item.id for item in seen_in_folder(folder).checks}
    assert 'delivered {"count":4,"from_queues_of":"$holder","to":"$holder"}' in found
    assert "" not in found


def test_every_shipped_check_has_an_id_of_its_own() -> None:
    for scenario in library():
        for section in SECTIONS:
            ids = [check.identity for check in getattr(scenario, section)]
            assert len(set(ids)) == len(ids), scenario.name
