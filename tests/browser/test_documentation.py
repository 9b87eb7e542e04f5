"""The documentation site, opened as files without a network: pages load nothing, and search finds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

ROOT = Path(__file__).resolve().parents[2]
LIMIT_MS = 120_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.mark.browser
def test_search_finds_without_a_network(site: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "get-started.html").as_uri())
    page.locator(".md-search__input").fill("dead-letter queue", timeout=LIMIT_MS)
    expect(page.locator(".md-search-result__item").first).to_be_visible(timeout=LIMIT_MS)
    assert [url for url in asked if not url.startswith("file:")] == []
    assert any("javascripts/iframe-worker.js" in url for url in asked)
    page.close()
