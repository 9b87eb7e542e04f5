"""Readability: what counts as prose, and that hard words fail."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "readability.py"


@pytest.fixture(scope="module")
def readability() -> ModuleType:
    spec = importlib.util.spec_from_file_location("readability", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_prose_is_without_code_and_tables(readability: ModuleType) -> None:
    page = (
        "# Head\n\nOne `code`, [a link](x.md).\n\n```\nnot this\n```\n\n| nor | this |\n\n"
        "- first\n- second\n\n[a]: https://b.c\n\n`get_it()`\n"
    )
    assert readability.prose_of(page).splitlines() == [
        "Head.",
        "One code, a link.",
        "first.",
        "second.",
        "get it().",
    ]


def test_a_page_below_the_limit_fails(
    readability: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(readability, "ROOT", tmp_path)
    (tmp_path / "easy.md").write_text("The cat sat. The dog ran.\n", encoding="utf-8")
    (tmp_path / "hard.md").write_text(
        "Institutionalised incomprehensibility characteristically necessitates simplification.\n",
        encoding="utf-8",
    )
    assert readability.main(["easy.md"]) == 0
    capsys.readouterr()
    assert readability.main(["easy.md", "hard.md"]) == 1
    assert "hard.md" in capsys.readouterr().err


def test_our_pages_are_at_least_at_the_limit(readability: ModuleType) -> None:
    assert readability.main([]) == 0


def test_the_page_names_each_of_our_pages(
    readability: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    def named(page: str) -> list[str]:
        return [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| ")]

    readability.main([])
    written = (readability.ROOT / "docs" / "readability.md").read_text("utf-8")
    assert named(written) == named(capsys.readouterr().out), "run: make readability"
