"""`python -m harness`: the same as the command `rocketchaos`."""

from __future__ import annotations

import sys

from rocketchaos import main

if __name__ == "__main__":
    sys.exit(main())
