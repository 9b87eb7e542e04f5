"""The shipped scenarios, for all tests of a process."""

from __future__ import annotations

from rocketchaos.harness.plan.library import shipped
from tests.unit.reading import read_once

LIBRARY = [read_once(path) for path in sorted(shipped().values())]
