"""What is kept of runs: small, the same every time, and with lines to point to."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rocketchaos.harness.claims.evidence import (
    CITED_AT_MOST,
    EXAMPLES,
    read_evidence,
    some_of,
    without_places,
    write_evidence,
)
from rocketchaos.harness.claims.runs import seen_in, seen_in_folder
from rocketchaos.harness.claims.verdicts import verdicts
from rocketchaos.harness.core.errors import UsageProblem
from tests.unit.claims.golden import RUNS, again, golden

KILL = golden("kill-flips-the-subscription")
FILE = "4.9.4/kill-flips-the-subscription.jsonl"


def test_evidence_says_the_same_as_the_runs(tmp_path: Path) -> None:
    runs = [KILL, golden("same-group-different-tags"), golden("pull-at-and-beyond-the-end", as_now=True)]
    write_evidence(tmp_path, runs)
    before, after = verdicts(runs), verdicts(read_evidence(tmp_path))
    assert {key: item.kind for key, item in after.items()} == {key: item.kind for key, item in before.items()}
    assert all(proof.run.lines for item in after.values() for proof in item.proofs)


def test_every_cited_event_stands_on_the_line_that_a_link_points_to(tmp_path: Path) -> None:
    write_evidence(tmp_path, [KILL])
    lines = (tmp_path / FILE).read_text("utf-8").splitlines()
    (run,) = read_evidence(tmp_path)
    assert run.lines
    for number, line in run.lines.items():
        assert json.loads(lines[line - 1])["n"] == number
    cited = {number for check in run.checks for number in check.events}
    assert set(run.lines) == cited


def test_the_same_runs_make_the_same_files_in_whatever_order(tmp_path: Path) -> None:
    runs = [KILL, again(KILL, 2), again(KILL, 3)]
    write_evidence(tmp_path / "a", runs)
    write_evidence(tmp_path / "b", reversed(runs))
    write_evidence(tmp_path / "c", read_evidence(tmp_path / "a"))
    texts = {(tmp_path / name / FILE).read_text("utf-8") for name in "abc"}
    assert len(texts) == 1


def test_events_are_kept_of_some_runs_and_of_the_others_only_the_answers(tmp_path: Path) -> None:
    write_evidence(tmp_path, [again(KILL, number) for number in range(1, 6)])
    runs = read_evidence(tmp_path)
    assert [bool(run.lines) for run in runs] == [number < EXAMPLES for number in range(5)]
    assert [len(run.checks) for run in runs] == [len(KILL.checks)] * 5


def test_of_many_events_the_first_and_the_last_are_kept() -> None:
    assert some_of((1, 2, 3)) == (1, 2, 3)
    kept = some_of(tuple(range(100)))
    assert (len(kept), kept[0], kept[-1]) == (CITED_AT_MOST, 0, 99)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("no place in /srv/somebody/runs/x", "no place in …/x"),
        ("its log: /srv/somebody/broker.log.", "its log: …/broker.log."),
        ("http://127.0.0.1:80/a/b/c", "http://127.0.0.1:80/a/b/c"),
        ("orders/broker-a/0", "orders/broker-a/0"),
        ("/127.0.0.1:21336", "/127.0.0.1:21336"),
    ],
)
def test_evidence_tells_nothing_of_the_machine(text: str, left: str) -> None:
    assert without_places({"a": [text, 7]}) == {"a": [left, 7]}


def test_new_evidence_replaces_that_of_its_version_and_scenario_alone(tmp_path: Path) -> None:
    other = replace(KILL, rocketmq="5.5.0")
    write_evidence(tmp_path, [KILL, other])
    write_evidence(tmp_path, [again(KILL, 7)])
    assert {(run.rocketmq, run.run) for run in read_evidence(tmp_path)} == {
        ("4.9.4", "kill-flips-the-subscription/7"),
        ("5.5.0", "kill-flips-the-subscription/1"),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    target = tmp_path / "runs" / "kill-flips-the-subscription" / "20260101T000000.000-1"
    shutil.copytree(RUNS / "kill-flips-the-subscription", target)
    (target.parent / "latest").symlink_to(target.name)
    return target


def test_a_folder_of_runs_has_each_run_once(folder: Path) -> None:
    (run,) = seen_in([folder.parents[1], folder], pytest.fail)
    assert run.run == "kill-flips-the-subscription/20260101T000000.000-1"
    assert replace(run, run=KILL.run) == KILL


def test_a_run_with_other_clients_counts_nowhere(folder: Path) -> None:
    record = json.loads((folder / "run.json").read_text())
    record["cell"] = {"client": "python", "rocketmq": "4.9.4"}
    (folder / "run.json").write_text(json.dumps(record))
    run = seen_in_folder(folder)
    assert run.not_counted == "played with other clients than its own, python in place of java"


@pytest.mark.parametrize("version", [2, None])
def test_a_run_of_another_schema_is_refused(folder: Path, version: int | None) -> None:
    checks = json.loads((folder / "checks.json").read_text())
    (folder / "checks.json").write_text(json.dumps({**checks, "schema_version": version}))
    with pytest.raises(UsageProblem, match="is not of schema version 1"):
        seen_in([folder], pytest.fail)


def test_a_run_that_was_never_judged_is_refused(folder: Path) -> None:
    for name in ("checks.json", "outcome.json"):
        (folder / name).unlink()
    with pytest.raises(UsageProblem, match=r"has no outcome.json and no checks.json\n  `rocketchaos check"):
        seen_in([folder], pytest.fail)


def test_below_a_folder_a_run_that_has_not_ended_is_named_and_left_out(folder: Path) -> None:
    under_way = folder.with_name("20260101T000001.000-1")
    shutil.copytree(folder, under_way)
    for name in ("checks.json", "outcome.json"):
        (under_way / name).unlink()
    left_out: list[str] = []
    (run,) = seen_in([folder.parents[1]], left_out.append)
    assert run.run.endswith(folder.name)
    assert left_out == [
        f"{under_way} has not ended; if its harness was killed, `rocketchaos check` judges it"
    ]


@pytest.mark.parametrize(("name", "said"), [("nothing", "there is no folder"), (".", "there are no runs in")])
def test_where_there_are_no_runs_it_is_said(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=said):
        seen_in([tmp_path / name], pytest.fail)
    with pytest.raises(UsageProblem, match="there is no evidence in"):
        read_evidence(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "is no file of evidence: IndexError"),
        ("{", "is no file of evidence: JSONDecodeError"),
        ('{"schema_version": 7}\n', "is of schema version 7"),
        ('{"schema_version": 1}\n{"run": "x"}\n', "is no file of evidence: KeyError"),
    ],
)
def test_broken_evidence_is_one_clear_message(text: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "4.9.4").mkdir()
    (tmp_path / "4.9.4" / "x.jsonl").write_text(text)
    with pytest.raises(UsageProblem, match=found):
        read_evidence(tmp_path)
