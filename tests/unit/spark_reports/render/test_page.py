"""The page of a report, without a browser."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rocketchaos.spark_reports.render.document import document
from rocketchaos.spark_reports.render.links import RunsUrl
from rocketchaos.spark_reports.render.page import ROW_LIMIT, page
from rocketchaos.spark_reports.report import Report, Table
from rocketchaos.spark_reports.run_names import named_run
from tests.unit.spark_reports.render.samples import HOSTILE, SQL, VIEW, empty, whole

VOID = frozenset(("meta", "input", "br", "link", "img", "hr"))


class Read(HTMLParser):
    """A page as a browser sees it: tags with their attributes, texts by tag, scripts by their type."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[str, str]] = []
        self.shown = ""
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tag, attributes = self._open[-1] if self._open else ("", {})
        if tag == "script":
            self.scripts.append((attributes.get("type") or "", data))
        elif tag != "style":
            self.shown += data

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.tags if "id" in attributes]

    @property
    def links(self) -> list[str]:
        return [str(attributes["href"]) for _, attributes in self.tags if "href" in attributes]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return page(whole(), tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def read(text: str) -> Read:
    return Read(text)


def test_the_page_loads_nothing_from_elsewhere(read: Read) -> None:
    assert not any("src" in attributes for _, attributes in read.tags)
    assert not {"link", "img", "iframe", "object", "embed", "form", "base"} & {tag for tag, _ in read.tags}
    assert not [link for link in read.links if "//" in link]
    policy = next(
        attributes["content"] for _, attributes in read.tags if attributes.get("http-equiv") is not None
    )
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy


def test_plotly_is_there_once(text: str, read: Read) -> None:
    (packed,) = (script for kind, script in read.scripts if kind == "application/gzip")
    unpacked = gzip.decompress(base64.b64decode(packed))
    assert unpacked.startswith(b"/**\n* plotly.js (cartesian - minified) v")
    # The digest is what lets it run.
    assert base64.b64encode(hashlib.sha256(unpacked).digest()).decode() in text
    (banner,) = re.findall(r"<!-- (.*?) -->", text, re.DOTALL)
    assert unpacked.decode().startswith(banner)
    assert "MIT license" in banner


def test_every_figure_and_table_has_its_sql_with_a_button_to_copy_it(read: Read) -> None:
    parts = [part for section in whole().sections for part in section.parts]
    assert read.shown.count(SQL) == len(parts)
    buttons = [attributes["data-copy"] for _, attributes in read.tags if "data-copy" in attributes]
    assert len(buttons) == len(parts) + 1
    assert set(buttons) <= set(read.ids)


def test_the_statements_that_make_the_views_of_that_sql_can_be_copied_together(read: Read) -> None:
    assert read.shown.count(VIEW) == 2
    assert f"VIEW runs AS\n{VIEW};\nCREATE" in read.shown
    assert "store-sql" in [attributes.get("data-copy") for _, attributes in read.tags]


def test_the_document_has_them_and_the_versions() -> None:
    store = document(whole())["store"]
    assert store["versions"] == {"runs": 7}
    assert [item.count(VIEW) for item in store["views"]] == [1, 1]


def test_ids_are_unique_and_links_within_the_page_lead_somewhere(read: Read) -> None:
    assert len(read.ids) == len(set(read.ids))
    assert {link[1:] for link in read.links if link.startswith("#")} <= set(read.ids)


def test_tables_link_their_files(read: Read) -> None:
    assert {"flakiness/cells.csv", "flakiness/cells.parquet", "flakiness/cells.delta"} <= set(read.links)


def test_the_store_is_summed_up_with_what_is_quarantined_and_why(read: Read) -> None:
    shown = " ".join(read.shown.split())
    for said in (
        "runs1,234",
        "messages567,890",
        "scenarios4",
        "hosts3",
        "2026-01-01 02:11 to 2026-04-01 02:11",
        "quarantined3",
        "clock jumps1",
        "3 run folders are quarantined, and not in any number below (same-group-different-tags: 2; truncated: 1).",
        "These are the newest",
        "file:/runs/s/1: its run.json is cut off",
        "The wall clock jumped in 1 run",
    ):
        assert said in shown.replace(" 1,234", "1,234"), said


def test_nothing_quarantined_is_said_too(tmp_path: Path) -> None:
    shown = " ".join(Read(page(empty(), tmp_path)).shown.split())
    assert "quarantined0" in shown
    assert "The store has no runs: there is nothing to report yet." in shown
    assert "No rows." in shown


@pytest.mark.parametrize("hostile", [HOSTILE, "]]>--><!--<script>", "<b onmouseover=alert(1)>b</b>"])
def test_strangers_text_acts_nowhere(tmp_path: Path, hostile: str) -> None:
    tame, wild = Read(page(whole(), tmp_path)), Read(page(whole([hostile, "b", "c", "d"]), tmp_path))
    assert [tag for tag, _ in wild.tags] == [tag for tag, _ in tame.tags]
    assert _attributes(wild) == _attributes(tame)
    assert len(wild.scripts) == len(tame.scripts)


def _attributes(read: Read) -> list[set[str]]:
    # Long text is of another class.
    return [set(attributes) - {"class"} for _, attributes in read.tags]


def test_names_in_what_is_said_are_code_whatever_is_in_them(tmp_path: Path) -> None:
    report = replace(empty(), headline="see `timers` and `<b>`", lines=("no `end", "`a` or `b`"))
    text = page(report, tmp_path)
    assert "see <code>timers</code> and <code>&lt;b&gt;</code></p>" in text
    assert "<li>no `end</li>" in text
    assert "<li><code>a</code> or <code>b</code></li>" in text


def test_strangers_text_is_no_markup_in_figures_either(tmp_path: Path) -> None:
    wild = Read(page(whole([HOSTILE, "b", "c", "d"]), tmp_path))
    data = [script for kind, script in wild.scripts if kind == "application/json"]
    assert len(data) == 6
    for item in data:
        assert not set("<>&\u202e\x1b") & set(item)
        texts = "\n".join(_strings(json.loads(item)))
        assert not re.search(r"<\s*/?\s*(a|img|script|span)\b", texts)
        assert "\u202e" not in texts
    assert any("owned" in entry for entry in data)


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item)]
    return [text for item in value for text in _strings(item)] if isinstance(value, list) else []


def test_of_a_very_long_table_the_page_says_where_the_rest_is(tmp_path: Path) -> None:
    long = Read(page(whole(count=ROW_LIMIT + 7), tmp_path))
    assert sum(tag == "tr" for tag, _ in long.tags) == ROW_LIMIT + 1
    assert "7 more rows: cells.csv has all." in long.shown
    assert "1,007 rows" in long.shown


def test_verdicts_are_words_with_a_tone(read: Read) -> None:
    tones = {
        attributes["class"] for tag, attributes in read.tags if tag == "span" and "chip" in str(attributes)
    }
    assert tones == {"chip tone-good", "chip tone-unsure", "chip tone-bad", "chip tone-quiet"}
    assert "FLAKY" in read.shown


def test_runs_of_this_machine_are_links_and_others_are_text(tmp_path: Path) -> None:
    run, out = tmp_path / "runs" / "a b#c" / "20260101T000000.000-7", tmp_path / "reports"
    run.mkdir(parents=True)
    (run / "report.html").touch()
    report: Report = whole()
    table = report.tables[0]
    for n, source in enumerate((run.as_uri(), str(run), "javascript:alert(1)", "file://elsewhere/x")):
        table.rows[n]["typical_run"] = source  # type: ignore[index]
    links = Read(page(report, out)).links
    assert links.count("../runs/a%20b%23c/20260101T000000.000-7/report.html") == 2
    assert not [link for link in links if "javascript" in link or "elsewhere" in link or "s3a" in link]


def test_runs_in_sentences_have_their_links_and_reproduce_line(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "20260101T000000.000-7"
    run.mkdir(parents=True)
    report = replace(
        whole(), headline=f"see {named_run(f'file:{run}')} & more", lines=[named_run("s3a://b/x")]
    )
    read = Read(page(report, tmp_path))
    assert read.links.count("./runs/20260101T000000.000-7") == 2
    assert f"rocketchaos reproduce {run}" in [attributes.get("data-line") for _, attributes in read.tags]
    assert "s3a://b/x" in read.shown
    linked = Read(page(report, tmp_path, RunsUrl.of("https://ci/{name}/")))
    assert {"https://ci/x/report.html", "https://ci/x/"} <= set(linked.links)
    # Every run that a table names is somewhere, too.
    assert "https://ci/3/report.html" in linked.links


def test_a_row_has_an_anchor_that_outlives_the_report(tmp_path: Path) -> None:
    def anchors(report: Report) -> list[str]:
        return [name for name in Read(page(report, tmp_path)).ids if name.startswith("cell-")]

    def keyed(report: Report) -> Report:
        section, rest = report.sections
        parts = [
            replace(part, rows_are="cell", key=("scenario", "client", "rocketmq"))
            if isinstance(part, Table)
            else part
            for part in section.parts
        ]
        return replace(report, sections=[replace(section, parts=parts), rest])

    first, later = keyed(whole(count=7)), keyed(whole(count=19))
    later.tables[0].rows.reverse()  # type: ignore[attr-defined]
    assert len(anchors(first)) == 7
    assert set(anchors(first)) < set(anchors(later))
    # The same again is linked to where it stands first.
    assert len(anchors(keyed(whole(count=40)))) == 20
    table = next(part for part in document(first)["sections"][0]["parts"] if part["kind"] == "table")
    assert table["anchors"] == anchors(first)


def test_an_unusable_width_of_a_figure_is_ignored(tmp_path: Path) -> None:
    report = whole()
    report.figures[0].plot.update_layout(meta={"min_width": 99_999})
    assert "min-width: 2400px" in page(report, tmp_path)
