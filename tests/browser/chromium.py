"""The Chromium of this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LIMIT_MS = 120_000
"""Of everything a browser does: a page is ready when it says so, on a busy machine late."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """It, without a window; tests are skipped where there is none."""
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        found = next(filter(None, map(shutil.which, NAMES)), str(own) if own.is_file() else None)
        if found is None:
            pytest.skip(f"no Chromium here: none of {', '.join(NAMES)}")
        # Chromium's own sandbox refuses to work for root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=found, args=arguments, timeout=LIMIT_MS)
        yield started
        started.close()
