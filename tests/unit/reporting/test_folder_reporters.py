"""What is written into the run folder, and read from it again."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import jinja2
import pytest

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.reporting import html
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.folder import load_report, write_reports
from rocketchaos.harness.reporting.html import page
from rocketchaos.harness.reporting.parts.event_list import ROW_LIMIT, WHOLE_LIMIT
from rocketchaos.harness.reporting.start_here import MESSAGE_LIMIT, start_here
from tests.unit.history_builder import HistoryBuilder, eight_messages, scenario_of
from tests.unit.reporting.reports import (
    HOSTILE,
    broken,
    good,
    healthy,
    report_of,
    troubled,
    write_folder,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "runs"
VOID = frozenset(("meta", "input", "br", "link", "img", "hr"))


class Page(HTMLParser):
    """Reads a page: ids, links to fragments, whether the tags are nested as they should be, its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.fragments: set[str] = set()
        self.files: set[str] = set()
        self.tags: list[str] = []
        self.shown = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            if name == "href":
                (self.fragments if str(value).startswith("#") else self.files).add(str(value))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.shown += data


def long_run(folder: Path, messages: int) -> Report:
    """Many messages, half of them dropped by a's client."""
    scenario, _ = eight_messages()
    made = HistoryBuilder().begin(scenario).step(0, "start")
    made.start(scenario, "a")
    made.start(scenario, "b")
    made.stored("g", {"orders": "tagB"}, ["a", "b"])
    made.owns(scenario, "a", "orders", [0, 1])
    made.owns(scenario, "b", "orders", [2, 3])
    for index in range(messages):
        key = made.send("orders", "tagB", index + 1, index % 4, index // 4)
        if index % 4 > 1:
            made.receive("b", "orders", key, "tagB", index % 4, index // 4)
        made.offsets("g", "orders", [(0, index // 4)] * 4)
    made.offsets("g", "orders", [(messages // 4, messages // 4)] * 4, moment="end")
    made.stored("g", {"orders": "tagB"}, ["a", "b"], moment="end")
    made.owns(scenario, "a", "orders", [0, 1], moment="end")
    made.add("harness", "moment-observed", moment="end")
    made.add("harness", "run-ended")
    return report_of(scenario, made.events, folder)


def faulty_run(folder: Path) -> Report:
    """Two groups, a kill and a restart, a pause, a topic that only one member knows."""
    scenario = scenario_of(
        "name: faults\ntitle: Faults\ntopics: {orders: {queues: 4}, bills: {queues: 2}}\n"
        "consumers:\n  one: {group: g, subscribe: {orders: tagA}}\n"
        '  two: {group: g, subscribe: {bills: "*"}}\n  other: {group: h, subscribe: {orders: "*"}}\n'
        "steps: [{start: one}]\nanomaly: [{delivered: {to: g, count: 1}}]\n"
        "healthy: [{delivered: {to: g, count: 2}}]\n"
    )
    made = HistoryBuilder().begin(scenario).at(1).step(0, "start")
    for name in scenario.consumers:
        made.start(scenario, name)
    made.stored("g", {"orders": "tagA"}, ["one", "two"])
    made.owns(scenario, "one", "orders", [0, 1])
    made.stored("g", {"bills": "*"}, ["one", "two"])
    made.send("orders", "tagA", 1, 3, 0)
    made.add("harness", "fault-injected", fault="kill", target="one")
    made.add("harness", "fault-effective", fault="kill", target="one", proof="ended by signal 9")
    made.add("harness", "fault-injected", fault="pause", target="other")
    made.add("harness", "fault-effective", fault="pause", target="other", proof="stopped")
    made.at(9).add("harness", "fault-healed", fault="pause", target="other", proof="goes on")
    made.start(scenario, "one")
    made.add("other", "listener-error", error="no")
    made.add("two", "consumer-stopped")
    made.add("harness", "moment-observed", moment="end")
    made.add("harness", "run-ended")
    return report_of(scenario, made.events, folder)


def test_the_folder_is_enough_to_report_again(tmp_path: Path) -> None:
    run = good(tmp_path)
    write_folder(run)
    write_reports(load_report(tmp_path))
    again = load_report(tmp_path)
    assert again.outcome.kind is run.outcome.kind
    assert again.outcome.messages == run.outcome.messages
    assert again.scenario.file == run.scenario.file
    assert again.record["seed"] == 7
    assert "REPRODUCED" in (tmp_path / "START-HERE.md").read_text()
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="no run folder"):
        load_report(tmp_path)


def test_a_history_cut_in_mid_line_still_makes_a_report(tmp_path: Path) -> None:
    write_folder(good(tmp_path))
    events = tmp_path / "events.jsonl"
    events.write_bytes(events.read_bytes()[:-40])
    (tmp_path / "run.json").write_text("{ broken")
    run = load_report(tmp_path)
    write_reports(run)
    assert "ERROR" in (tmp_path / "START-HERE.md").read_text()


def test_start_here_leads_a_stranger_through_the_run(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "b.log").write_text("")
    text = start_here(good(tmp_path))
    assert text.startswith("# REPRODUCED: Same group, different tags")
    assert "| 1.11 | 8 messages of tag tagB sent to orders, to 4 queues, 2 to each |" in text
    assert "| orders-1 | tagB | broker-a:0 | 0 | a | tagB | filtered by the client | nobody |" in text
    assert "Give all members of group g the same subscription" in text
    assert "mqadmin resetOffsetByTime" in text
    assert "[logs/b.log](logs/b.log)" in text
    assert f"`rocketchaos reproduce {tmp_path}`" in text
    assert f"`rocketchaos check {tmp_path}`" in text


def test_start_here_gives_advice_only_where_it_is_warranted(tmp_path: Path) -> None:
    assert "What follows" not in start_here(healthy(tmp_path))
    assert "nothing is lost yet" in start_here(broken(tmp_path))


def test_start_here_shortens_many_messages(tmp_path: Path) -> None:
    text = start_here(long_run(tmp_path, 80))
    assert text.count("| tagB | broker-a:") == MESSAGE_LIMIT
    assert "40 more are in `messages.jsonl`" in text


def test_start_here_points_to_the_log_of_what_died(tmp_path: Path) -> None:
    run = troubled(tmp_path, "environment", "the worker a died: exit code 1\n  Look at its log.")
    (tmp_path / "logs" / "a.log").write_text("")
    assert "read [logs/a.log](logs/a.log)" in start_here(run)


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    for run in (good(tmp_path), faulty_run(tmp_path), broken(tmp_path)):
        text = page(run)
        assert not re.search(r"https?://|src=|@import|url\(|//cdn|<link|<img|<iframe", text)


def test_the_page_is_well_formed_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    for run in (good(tmp_path), faulty_run(tmp_path), broken(tmp_path), healthy(tmp_path)):
        read = Page(page(run))
        assert len(read.ids) == len(set(read.ids))
        assert {fragment.removeprefix("#") for fragment in read.fragments} <= set(read.ids)


def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path) -> None:
    run = report_of(*eight_messages(tag_b=HOSTILE), tmp_path)
    text = page(run)
    assert "<script>alert" not in text
    read = Page(text)
    assert read.tags.count("script") == 1
    assert "<script>alert(1)</script>\\x1b[31m" in read.shown
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<script>" not in start_here(run).replace("\\<script>", "")


def test_lone_surrogates_do_not_keep_reports_from_being_written(tmp_path: Path) -> None:
    run = troubled(tmp_path, "harness", "a \ud800 b")
    write_reports(run)
    assert "a \\ud800 b" in (tmp_path / "report.html").read_text()


def test_checks_lead_to_their_events(tmp_path: Path) -> None:
    text = page(good(tmp_path))
    assert 'href="#e36"' in text
    assert '<tr id="e36">' in text


def test_the_page_draws_subscriptions_ownership_and_faults(tmp_path: Path) -> None:
    read = Page(page(faulty_run(tmp_path)))
    for words in (
        "kill one",
        "pause other",
        "not stored",
        "orders 0-1",
        "stored by broker-a",
        "two has stopped",
    ):
        assert words in read.shown


def test_of_many_events_only_some_have_rows_and_links_stay_whole(tmp_path: Path) -> None:
    run = long_run(tmp_path, 600)
    assert len(run.events) > WHOLE_LIMIT
    text = page(run)
    read = Page(text)
    rows = [item for item in read.ids if re.fullmatch(r"e\d+", item)]
    assert len(rows) < len(run.events)
    assert len(rows) <= ROW_LIMIT
    assert "events.jsonl has all" in read.shown
    assert "FC ×150" in read.shown


def test_compiled_templates_are_kept_and_make_the_same_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = long_run(tmp_path / "run", 8)
    monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path / "cache"))
    pages = []
    for _ in range(2):
        html._environment.cache_clear()
        pages.append(page(run))
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "cache" / "templates").iterdir()}
    assert len(kept) >= 2
    monkeypatch.setattr(
        jinja2.Environment, "_generate", lambda *_unused, **_more: pytest.fail("compiled again")
    )
    html._environment.cache_clear()
    pages.append(page(run))
    assert pages[0] == pages[1] == pages[2]


def test_a_page_is_made_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("a file, and no folder")
    monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path / "cache"))
    html._environment.cache_clear()
    assert page(long_run(tmp_path / "run", 8)).startswith("<!doctype html>")
    html._environment.cache_clear()


def test_an_empty_history_has_a_page_and_a_beginning(tmp_path: Path) -> None:
    scenario, _ = eight_messages()
    outcome = report_of(scenario, [], tmp_path).outcome
    bare = Report(scenario, outcome, [], {}, tmp_path)
    write_reports(bare)
    assert "ERROR" in (bare.folder / "START-HERE.md").read_text(encoding="utf-8").upper()
    assert "the harness was killed, or crashed" in Page(page(bare)).shown


@pytest.mark.parametrize("golden", sorted(GOLDEN.iterdir()), ids=lambda path: path.name)
def test_recorded_runs_have_whole_pages(golden: Path, tmp_path: Path) -> None:
    folder = tmp_path / golden.name
    shutil.copytree(golden, folder)
    write_reports(load_report(folder))
    text = (folder / "report.html").read_text(encoding="utf-8")
    read = Page(text)
    assert {fragment.removeprefix("#") for fragment in read.fragments} <= set(read.ids)
    assert not re.search(r"https?://|src=|@import", text)
    assert "reproduce" in (folder / "START-HERE.md").read_text(encoding="utf-8")
