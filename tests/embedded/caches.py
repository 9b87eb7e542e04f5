"""Caches of tests: which clusters are up is written there, and what was downloaded lies there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocketchaos.harness.core import paths


def cache_with_downloads(folder: Path) -> Path:
    """A cache of its own, but for what is downloaded or compiled."""
    for downloaded in (
        paths.maven_folder(),
        paths.clients_folder(),
        paths.hooks_folder(),
        paths.agents_folder(),
        paths.archives_folder(),
    ):
        (folder / downloaded.name).symlink_to(downloaded.resolve())
    return folder


@contextmanager
def cache(folder: Path) -> Iterator[None]:
    """This cache, for what runs here and for commands that start within the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(paths.CACHE_VARIABLE, str(folder))
        yield
