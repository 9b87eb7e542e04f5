"""`rocketchaos list`: by theme, one line each, and a search."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.plan.library import shipped
from rocketchaos.harness.plan.scenario_list import Listed, listed
from rocketchaos.harness.plan.themes import THEMES
from rocketchaos.harness.reference.catalogue import claims_of, refuted_by
from tests.unit.library import library

SCENARIO = """\
name: NAME
title: Half of the messages of NAME reach nobody, which takes a long sentence to say
topics: {orders: {queues: 4}}
consumers: {a: {group: g, subscribe: {orders: tagA}}}
steps: [start: a]
anomaly: {delivered: {to: a, count: 0, claim: B07}}
healthy: {delivered: {to: a, count: 1}}
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str, columns: int = 100) -> list[str]:
    screen = Terminal()
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout", screen)
    assert main(["list", *arguments]) == 0
    return screen.getvalue().splitlines()


def written(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.scenario.yaml").write_text(SCENARIO.replace("NAME", name))


def test_what_is_listed_is_what_a_checked_scenario_says() -> None:
    found = {entry.name: entry for entry in listed(shipped().values())}
    checked = library()
    assert list(found) != []
    assert found.keys() == {entry.name for entry in checked}
    for item in checked:
        assert found[item.name] == Listed(
            item.name,
            item.title,
            Path(item.file).parent.name,
            item.file,
            item.expected,
            item.control,
            item.timing,
            item.marks,
            tuple(sorted({*claims_of(item), *refuted_by(item)})),
        )


def test_on_a_terminal_every_line_fits_and_every_name_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = on_a_terminal(monkeypatch, "--all", columns=90)

    assert max(map(len, lines)) <= 90
    assert len(lines) < len(shipped())
    shown = " ".join(lines).replace(",", " ").split()
    assert set(shipped()) <= set(shown)
    themes = [line for line in lines if not line.startswith(" ")]
    assert [theme.partition(" (")[0] for theme in themes] == sorted(
        {p.parent.name for p in shipped().values()}
    )
    assert sum(line.startswith("  controls: ") for line in lines) > 5


def test_on_a_terminal_the_themes_fit_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = on_a_terminal(monkeypatch, columns=80)

    assert max(map(len, lines)) <= 80
    assert len(lines) < 24
    counts = Counter(path.parent.name for path in shipped().values())
    assert [line.split()[:2] for line in lines[: len(counts)]] == [
        [k, str(v)] for k, v in sorted(counts.items())
    ]
    assert counts.keys() == THEMES.keys()
    assert max(map(len, THEMES.values())) <= 60


def test_a_theme_s_name_lists_the_theme_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = on_a_terminal(monkeypatch, "go")

    assert [line for line in lines if not line.startswith(" ")] == [lines[0]]
    assert lines[0].startswith("go (")


def test_elsewhere_each_has_one_whole_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0

    printed = capsys.readouterr().out
    assert "\t" not in printed
    lines = printed.splitlines()
    assert sorted(line.split()[0] for line in lines) == sorted(shipped())
    by_name = {entry.name: entry for entry in listed(shipped().values())}
    for line in lines:
        item = by_name[line.split()[0]]
        assert line.split()[1] == item.theme
        assert line.endswith(f"  {item.title}")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["tags/a"], None),
        (["first"], {"first-of-two"}),
        (["FIRST", "messages of"], {"first-of-two"}),
        (["second", "b07"], {"second-of-two"}),
        (["themes-of-mine"], {"first-of-two", "second-of-two"}),
        (["-k", "of-two and not first"], {"second-of-two"}),
        (["two", "-k", "first"], {"first-of-two"}),
        (["elsewhere"], set()),
    ],
)
def test_words_and_an_expression_choose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], names: set[str] | None
) -> None:
    written(tmp_path / "themes-of-mine", "first-of-two", "second-of-two")

    code = main(["list", str(tmp_path), *arguments])

    shown = capsys.readouterr()
    assert code == (0 if names else 2)
    assert {line.split()[0] for line in shown.out.splitlines()} == (names or set())
    if names is None:
        assert "there is no file tags/a" in shown.err
    elif not names:
        assert "no scenario matches elsewhere" in shown.err


def test_a_search_shows_controls_like_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = on_a_terminal(monkeypatch, "same-group-same-tags")

    assert any(line.startswith("  same-group-same-tags  ") for line in lines)
    assert not any("controls:" in line for line in lines)


def test_the_long_form_tells_what_is_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--long", "-k", "kill-flips-the-subscription and not java"]) == 0

    facts = capsys.readouterr().out.splitlines()[1]
    assert facts.startswith("    expected: reproduced, control: kill-of-the-other, compressed, ")


def test_json_has_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "mine", "one")

    assert main(["list", "--json", str(tmp_path)]) == 0

    assert json.loads(capsys.readouterr().out)["scenarios"] == [
        {
            "name": "one",
            "title": "Half of the messages of one reach nobody, which takes a long sentence to say",
            "theme": "mine",
            "expected": "reproduced",
            "control": None,
            "timing": "compressed",
            "marks": [],
            "claims": ["B07"],
            "file": str(tmp_path / "mine" / "one.scenario.yaml"),
        }
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("name: [", "mine.scenario.yaml:1"),
        ("name: 5\ntitle: x\n", "mine.scenario.yaml:1:7"),
        ("title: x\n", "`name`"),
        ("- a\n", "is a mapping"),
    ],
)
def test_a_file_that_says_no_name_or_title_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, found: str
) -> None:
    (tmp_path / "mine.scenario.yaml").write_text(text)

    assert main(["list", str(tmp_path)]) == 2

    assert found in capsys.readouterr().err
