"""`rocketchaos symptoms`: a list by what is seen, answers that end with a command, a table from runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.language.symptom import SEEN
from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.plan.symptom_list import shipped_symptoms
from tests.unit.cli.test_list_command import Terminal

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


def test_the_list_has_every_symptom_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symptoms"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [
        item.name for item in shipped_symptoms()
    ]


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[str]:
    screen = Terminal()
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setattr("sys.stdout", screen)
    assert main(["symptoms", *arguments]) == 0
    return screen.getvalue().splitlines()


def test_a_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(map(len, on_a_terminal(monkeypatch, "stuck"))) <= 70


def test_a_terminal_gets_the_kinds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = on_a_terminal(monkeypatch)
    assert [line.split()[0] for line in lines[: len(SEEN)]] == list(SEEN)
    gone = sum("gone" in item.seen for item in shipped_symptoms())
    assert lines[0].split()[:2] == ["gone", str(gone)]
    assert max(map(len, lines)) <= 70
    assert "  rocketchaos symptoms gone " in "\n".join(lines)


@pytest.mark.parametrize("seen", SEEN)
def test_one_way_of_being_seen(seen: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symptoms", seen, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["symptoms"]
    assert {item["name"] for item in listed} == {
        item.name for item in shipped_symptoms() if seen in item.seen
    }


def test_every_answer_ends_with_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symptoms", "CONSUMED_BUT_FILTERED"]) == 0
    answers = capsys.readouterr().out.strip().split("\n\n")
    names = [answer.split()[0] for answer in answers]
    assert set(names) <= set(shipped())
    for name, answer in zip(names, answers, strict=True):
        assert answer.splitlines()[-1].startswith(f"  rocketchaos reproduce {name}")


def test_words_need_no_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symptoms", "does", "not", "support", "SQL92", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["symptoms"][0]["name"] == "sql92-refused"


def test_no_match_shows_the_nearest_and_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symptoms", "printer on fire", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["found"], len(document["symptoms"])) == (False, 3)
    assert main(["symptoms", "printer on fire"]) == 1
    assert capsys.readouterr().out.startswith("No symptom has this text")


@pytest.mark.parametrize("thread", ["apache/rocketmq#999999", "#999999", "apache/rocketmq 999999"])
def test_a_thread_that_no_symptom_reports_has_no_nearest(
    thread: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["symptoms", thread, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["symptoms"] == []
    assert main(["symptoms", thread]) == 1
    assert capsys.readouterr().out.startswith("No symptom reports this thread")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([""], "nothing to look for"),
        (["10.0.0.1:10911 2026-11-25 03:04:05"], "nothing to look for"),
        (["--table", "nowhere"], "no folder nowhere"),
        (["gone", "--table", "nowhere"], "--table shows all symptoms"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symptoms", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_runs_of_other_scenarios_make_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symptoms", "--table", str(GOLDEN)]) == 2
    assert "no run of a symptom" in capsys.readouterr().err


def test_a_table_is_made_from_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = next(file.parent for file in sorted(GOLDEN.rglob("outcome.json")))
    folder = tmp_path / "star-beside-a-tag" / "1"
    shutil.copytree(source, folder)
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(
        json.dumps({**record, "scenario": "star-beside-a-tag", "rocketmq": "4.9.4"})
    )
    outcome = json.loads((folder / "outcome.json").read_text())
    (folder / "outcome.json").write_text(json.dumps({**outcome, "outcome": "reproduced"}))
    assert main(["symptoms", "--table", str(tmp_path)]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if "star-beside-a-tag" in line)
    assert row.endswith("| gone | yes |  |")
    assert main(["symptoms", "--table", str(tmp_path), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert runs == {"star-beside-a-tag": {"4.9.4": {"reproduced": 1}}}
