"""What stands on the console."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from rocketchaos.harness.core.model import Holds, MessageClass, OutcomeKind
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.console import ConsoleReporter
from rocketchaos.harness.reporting.parts.queues import QueueLine
from rocketchaos.harness.reporting.parts.screen_one import became
from tests.unit.history_builder import HistoryBuilder, eight_messages
from tests.unit.reporting.reports import HOSTILE, broken, good, healthy, report_of, troubled

PASTED = ("  read ", "  look at ", "  check ", "  reproduce ")


def printed(*runs: Report, width: int = 120, encoding: str = "utf-8", terminal: bool = False) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=stream, width=width, force_terminal=terminal or None, legacy_windows=False)
    ConsoleReporter(console).report(runs)
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_a_run_begins_with_its_verdict_and_ends_with_the_command(tmp_path: Path) -> None:
    text = printed(good(tmp_path))
    first, *_, last = text.strip().splitlines()
    title = "Same group, different tags - half of the tagB messages reach nobody"
    assert first == f"REPRODUCED  {title}  (as expected)  5.1 s"
    assert last == f"  reproduce  rocketchaos reproduce {tmp_path}"
    assert str(tmp_path / "START-HERE.md") in text


def test_a_run_shows_its_evidence(tmp_path: Path) -> None:
    text = printed(good(tmp_path))
    assert "✓ delivered to $holder  [B01]" in text
    assert "expected  4 messages delivered to $holder, all from queues of $holder" in text
    assert "the run shows the contrary" in text
    assert "$holder is b, a later starter" in text
    assert "broker-a:0  a      tagA        tagB          2     2 filtered by the client  2 of 2" in text
    assert "4 filtered by the client (orders-1, orders-2, orders-5, orders-6)" in text
    assert "A dashboard shows CONSUMED for 4 messages of group g that no listener got" in text
    assert "RocketMQ 4.9.4 · client java 4.9.4 · compressed timing · seed 7" in text


def test_an_unexpected_outcome_says_what_it_should_have_been(tmp_path: Path) -> None:
    text = printed(healthy(tmp_path), width=160)
    assert text.startswith("NOT REPRODUCED  ")
    assert "(NOT as expected: should be reproduced)" in text
    assert "every check of `healthy` holds" in text


def test_an_interrupted_run_says_so_once(tmp_path: Path) -> None:
    assert "why  interrupted: Ctrl-C" in printed(troubled(tmp_path, "interrupted", "interrupted: Ctrl-C"))


def test_trouble_shows_reason_hint_and_log(tmp_path: Path) -> None:
    run = troubled(tmp_path, "environment", "the worker a died: exit code 1\n  Look at its log.")
    (tmp_path / "logs" / "a.log").write_text("boom")
    (tmp_path / "logs" / "b.log").write_text("fine")
    text = printed(run, width=200)
    assert text.startswith("ERROR  ")
    assert "why  the environment failed: the worker a died: exit code 1" in text
    assert "hint  Look at its log." in text
    assert f"log  {tmp_path}/logs/a.log\n" in text


def test_quoted_lines_stay_lines(tmp_path: Path) -> None:
    run = troubled(
        tmp_path, "environment", "a died; the end of a.log:\n    no jars\n    gone\n  Look at its log."
    )
    assert "a died; the end of a.log:\n      no jars\n      gone\n  hint  Look at its log." in printed(run)


def test_many_runs_have_a_line_each_and_a_sum(tmp_path: Path) -> None:
    text = printed(good(tmp_path), good(tmp_path, holder="a"), broken(tmp_path))
    assert len(re.findall("reproduced +same-group-different-tags +as expected", text)) == 2
    assert "3 runs: 2 as expected, 1 not  1 error, 2 reproduced" in text
    assert "reproduced             2 of 3, 67 % (95 % interval 21 to 94 %)" in text
    assert "b, a later starter     2 of 3" in text
    assert "a, the first to start  1 of 3" in text
    assert "3 for 3 runs" in text


def test_unexpected_runs_among_many_show_findings_and_command(tmp_path: Path) -> None:
    text = printed(good(tmp_path), healthy(tmp_path))
    assert "not-reproduced: same-group-different-tags" in text
    assert "✗ delivered to $others  [B01]" in text
    assert "delivered to g\n" not in text, "what the outcome itself needed is no failing finding"
    assert f"reproduce  rocketchaos reproduce {tmp_path}" in text


def test_a_measured_run_among_many_says_why_a_check_has_no_answer(tmp_path: Path) -> None:
    run = good(tmp_path)
    findings = tuple(
        replace(finding, holds=Holds.UNKNOWN, observed="mqadmin was refused: code 213")
        for finding in run.outcome.findings
    )
    unknown = replace(
        run.outcome, kind=OutcomeKind.INCONCLUSIVE, expected=None, as_expected=None, findings=findings
    )
    text = printed(replace(run, outcome=unknown), good(tmp_path))
    assert "mqadmin was refused: code 213" in text


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_nothing_is_wider_than_the_console_but_what_is_to_be_pasted(tmp_path: Path, width: int) -> None:
    for text in (
        printed(good(tmp_path), width=width),
        printed(good(tmp_path), broken(tmp_path), width=width),
    ):
        for line in text.splitlines():
            assert len(line) <= width or line.startswith(PASTED)


def test_hostile_text_does_not_act_and_fits_into_ascii(tmp_path: Path) -> None:
    run = report_of(*eight_messages(tag_b=HOSTILE), tmp_path)
    text = printed(run, width=250, encoding="ascii")
    assert "\x1b" not in text
    assert "\\x1b[31m" in text
    assert "ok delivered to $holder" in text


def test_colour_only_on_terminals_and_not_with_no_color(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in printed(good(tmp_path))
    assert "\x1b[1;32mREPRODUCED" in printed(good(tmp_path), terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "32m" not in printed(good(tmp_path), terminal=True)


def test_no_runs_are_no_words() -> None:
    assert printed() == ""


@pytest.mark.parametrize(("tells", "owner"), [(True, "nobody"), (False, "unknown")])
def test_an_owner_that_did_not_tell_is_unknown(tmp_path: Path, tells: bool, owner: str) -> None:
    scenario, _ = eight_messages()
    made = HistoryBuilder().begin(scenario)
    made.step(0, "start").start(scenario, "a")
    if tells:
        made.owns(scenario, "a", "orders", [])
    made.send("orders", "tagA", 1, 0, 0)
    made.offsets("g", "orders", [(0, 1)])
    assert f"broker-a:0  {owner} " in printed(report_of(scenario, made.events, tmp_path))


@pytest.mark.parametrize(
    ("classes", "shown"),
    [
        ({MessageClass.DELIVERED: 5}, "5 delivered to a (3) and b (2)"),
        (
            {MessageClass.DELIVERED: 5, MessageClass.FILTERED_BY_BROKER: 5},
            "5 delivered to a (3) and b (2), 5 filtered by the broker",
        ),
        (
            {MessageClass.DELIVERED: 4, MessageClass.IN_RETRY: 1},
            "4 delivered, 1 in retry, to a (3) and b (2)",
        ),
        ({MessageClass.IN_RETRY: 5}, "5 in retry, to a (3) and b (2)"),
    ],
)
def test_who_got_messages_stands_beside_the_messages_that_they_got(
    classes: Mapping[MessageClass, int], shown: str
) -> None:
    line = QueueLine("g", "orders", "broker-a:0", "b", "x", "x", 10, {"a": 3, "b": 2}, classes, 10, 10)
    assert became(line) == shown
