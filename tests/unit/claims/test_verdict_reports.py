"""What is told of verdicts: CLAIMS.md, differences, what was expected; and the commands."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from rocketchaos.harness.claims.diff import differences
from rocketchaos.harness.claims.evidence import RunSeen, read_evidence, write_evidence
from rocketchaos.harness.claims.expected_verdicts import expected_text, read_expected, unexpected
from rocketchaos.harness.claims.registry import claims
from rocketchaos.harness.claims.table import claims_table
from rocketchaos.harness.claims.verdicts import VerdictKind, verdicts
from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import ExitCode, UsageProblem
from rocketchaos.harness.core.model import Holds
from tests.unit.claims.golden import RUNS, again, answering, golden

KILL = golden("kill-flips-the-subscription")
OTHERWISE = again(KILL, 1, answering("A05", Holds.NO))
PULLS = golden("pull-at-and-beyond-the-end", as_now=True)
RACE = golden("same-group-different-tags", more="\ntendency:\n  - delivered: {to: b, count: 4, claim: A02}\n")


def table(*runs: RunSeen) -> str:
    return claims_table(
        {name: claims()[name] for name in ("A02", "A05", "E15", "F04")},
        verdicts(runs),
        why_no_run=lambda claim, version: (VerdictKind.UNMEASURED, f"no run of {claim} on {version}"),
        evidence="evidence",
        registry="claims.yaml",
    )


def row(text: str, claim: str, version: str) -> str:
    part = text.partition(f"### {claim}\n")[2].partition("\n### ")[0]
    return next(line for line in part.splitlines() if line.startswith(f"| {version} |"))


def test_the_table_tells_verdict_runs_and_links_to_events(tmp_path: Path) -> None:
    write_evidence(tmp_path / "evidence", [KILL, PULLS])
    text = table(*read_evidence(tmp_path / "evidence"))
    assert "| 4.9.4 | confirmed | 1 | [`kill-flips-the-subscription/1`]" in row(text, "A05", "4.9.4")
    assert "| 4.9.4 | **refuted** | 1 |" in row(text, "F04", "4.9.4")
    assert row(text, "A02", "4.9.4") == "| 4.9.4 | unmeasured | 0 | no run of A02 on 4.9.4 |"
    links = re.findall(r"\[(\d+)\]\(([^)#]+)#L(\d+)\)", text)
    assert {int(number) for number, _, _ in links} == {15, 96}
    for number, file, line in links:
        assert f'"n": {number},' in (tmp_path / file).read_text("utf-8").splitlines()[int(line) - 1]


def test_the_table_begins_with_what_is_said_and_is_not_so() -> None:
    text = table(KILL, replace(PULLS, rocketmq="4.9.3"))
    assert "## Refuted (1)\n\n- [F04](#f04) (4.9.3): A pull from beyond" in text
    assert "[F04](#f04) on 4.9.3: confirmed was predicted, refuted was measured" in text
    assert "## Open (1)\n\n- [A02](#a02): no run of A02 on 4.9.3\n" in text
    assert "- **Nothing public can observe it**: " in text
    assert "| 4.9.4 | 1 | 0 | 0 | 0 | 0 | 3 |" in text
    assert table(KILL) == table(KILL)


def test_the_table_tells_races_and_runs_that_count_nowhere() -> None:
    failed = replace(RACE, run="x/9", not_counted="error: the | broker died")
    text = table(RACE, again(RACE, 2, answering("A02", Holds.NO)), failed)
    shown = row(text, "A02", "4.9.4")
    assert "| **distribution** | 2 | delivered to b: 1 of 2, 50% (95 % interval 9% to 91%); " in shown
    assert "1 more that count nowhere: error: the \\| broker died" in shown


def test_no_difference() -> None:
    found = differences(verdicts([KILL, RACE]), verdicts([again(KILL, 2), again(RACE, 3)]))
    assert found.changes == ()
    assert found.same == len(verdicts([KILL, RACE]))


@pytest.mark.parametrize("holds", [Holds.NO, Holds.UNKNOWN])
def test_a_verdict_that_changed(holds: Holds) -> None:
    found = differences(verdicts([KILL]), verdicts([again(KILL, 2, answering("A05", holds))]))
    (change,) = found.changes
    assert (change.after.claim, change.before.kind) == ("A05", VerdictKind.CONFIRMED)
    assert change.after.kind is (VerdictKind.NOT_OBSERVED if holds is Holds.NO else VerdictKind.UNMEASURED)


def test_another_version_is_compared_where_there_is_none_in_common() -> None:
    newer = replace(OTHERWISE, rocketmq="5.5.0")
    assert [item.after.version for item in differences(verdicts([KILL]), verdicts([newer])).changes] == [
        "5.5.0"
    ]
    older = replace(KILL, rocketmq="4.9.3")
    (change,) = differences(verdicts([older, KILL]), verdicts([newer])).changes
    assert (change.before.version, change.after.version) == ("4.9.4", "5.5.0")
    both = differences(verdicts([KILL]), verdicts([KILL, newer]))
    assert both.changes == ()
    assert "A05 (5.5.0)" in both.not_compared


def test_a_race_has_changed_where_the_intervals_have_nothing_in_common() -> None:
    often = [again(RACE, number) for number in range(20)]
    never = [again(RACE, number, answering("A02", Holds.NO)) for number in range(20)]
    mostly = [*often[:15], *never[15:]]
    assert differences(verdicts(often), verdicts(mostly)).changes == ()
    (change,) = differences(verdicts(often), verdicts(never)).changes
    assert change.why.endswith("before 20 of 20")


def test_expected_verdicts_are_written_and_read(tmp_path: Path) -> None:
    found = verdicts([KILL, PULLS, replace(OTHERWISE, rocketmq="5.5.0")])
    path = tmp_path / "expected.yaml"
    path.write_text(expected_text(found.values()))
    expected = read_expected(path)
    assert expected["A05", "4.9.4"] is VerdictKind.CONFIRMED
    assert expected["A05", "5.5.0"] is VerdictKind.NOT_OBSERVED
    assert expected["F04", "4.9.4"] is VerdictKind.REFUTED
    assert unexpected(found.values(), expected) == []
    (line,) = unexpected(verdicts([OTHERWISE]).values(), expected)
    assert line.startswith("A05 on 4.9.4: not observed, expected confirmed: it was not so in kill-flips")


def test_what_is_not_measured_now_is_not_unexpected() -> None:
    blind = again(KILL, 2, answering("A05", Holds.UNKNOWN))
    assert unexpected(verdicts([blind]).values(), {("A05", "4.9.4"): VerdictKind.CONFIRMED}) == []


@pytest.mark.parametrize("text", ["A05: {4.9.4: perhaps}", "A05: confirmed", "["])
def test_broken_expectations_are_one_clear_message(text: str, tmp_path: Path) -> None:
    path = tmp_path / "expected.yaml"
    path.write_text(text)
    with pytest.raises(UsageProblem, match="has no expected verdicts"):
        read_expected(path)


def test_the_commands_make_the_table_from_runs_and_again_from_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, evidence = tmp_path / "CLAIMS.md", tmp_path / "evidence"
    run = str(RUNS / "kill-flips-the-subscription")
    assert main(["claims", "table", run, "--out", str(out)]) == ExitCode.AS_EXPECTED
    first = out.read_text("utf-8")
    assert "(evidence/4.9.4/kill-flips-the-subscription.jsonl#L" in first
    expected = tmp_path / "expected.yaml"
    arguments = ["--evidence", str(evidence), "--out", str(out), "--verdicts", str(expected)]
    assert main(["claims", "table", *arguments]) == ExitCode.AS_EXPECTED
    assert out.read_text("utf-8") == first
    assert read_expected(expected)["A05", "4.9.4"] is VerdictKind.CONFIRMED
    assert main(["claims", "diff", run, str(evidence)]) == ExitCode.AS_EXPECTED
    assert "0 changed" in capsys.readouterr().out


def test_the_command_ends_with_1_where_a_verdict_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_evidence(tmp_path / "new", [OTHERWISE])
    run = str(RUNS / "kill-flips-the-subscription")
    assert main(["claims", "diff", run, str(tmp_path / "new")]) == ExitCode.NOT_AS_EXPECTED
    assert "A05 (4.9.4): confirmed → not observed\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["run", "--only", "A99"], "there is no claim `A99`; did you mean"),
        (["run", "--only", "E15"], "no scenario yet is about E15"),
        (["run", "--rocketmq", "four"], "'four' is no RocketMQ version"),
        (["run", "--slow", "--fast"], "--slow and --fast exclude each other"),
        (["table", "nowhere"], "there is no folder nowhere"),
        (["table", "--evidence", "nowhere"], "there is no evidence in nowhere"),
        (["diff", "nowhere", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_a_users_mistake_is_one_message(
    arguments: list[str],
    text: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["claims", *arguments]) == ExitCode.USAGE
    shown = capsys.readouterr().err
    assert text in shown
    assert "Traceback" not in shown


def test_sets_without_a_claim_in_common_are_no_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, run in (("old", KILL), ("new", replace(PULLS, checks=PULLS.checks[:1]))):
        write_evidence(tmp_path / name, [run])
    assert main(["claims", "diff", str(tmp_path / "old"), str(tmp_path / "new")]) == ExitCode.USAGE
    assert "have no claim in common" in capsys.readouterr().err
