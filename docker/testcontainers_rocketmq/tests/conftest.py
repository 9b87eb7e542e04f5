"""Puts the module next to the installed testcontainers. Our own reaper takes the place of Ryuk."""

from __future__ import annotations

from pathlib import Path

import testcontainers.community
from testcontainers.core.config import testcontainers_config

testcontainers.community.__path__.append(
    str(Path(__file__).parents[1] / "src" / "testcontainers" / "community")
)
testcontainers_config.ryuk_disabled = True
