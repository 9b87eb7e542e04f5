"""The shipped scenarios, read once for all tests of a process."""

from __future__ import annotations

from harness.library import shipped
from harness.selection import load_all

LIBRARY = load_all(sorted(shipped().values()))
