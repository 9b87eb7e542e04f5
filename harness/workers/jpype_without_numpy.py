"""Loads JPype without numpy: to be imported before `jpype`, by a worker's program.

Where numpy is installed, as with the reports, JPype loads it for arrays that no worker has: half of what a worker
does before its JVM starts.
"""

import sys
from typing import Any

_modules: dict[str, Any] = sys.modules
if "numpy" not in _modules:
    # None: "there is no such module". It is there again for who wants it later.
    _modules["numpy"] = None
    try:
        import jpype  # noqa: F401
    finally:
        del _modules["numpy"]
