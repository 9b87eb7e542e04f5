"""The command `rocketchaos`, also as `python -m rocketchaos`."""

from __future__ import annotations

import atexit
import gc
import sys

_ENVIRONMENT, _INTERRUPTED = 4, 130
"""As `harness.core.errors.ExitCode` has them, which needs packages that may be missing."""


def main() -> int:
    """Run the command line; returns the exit code."""
    # What is imported stays: looking for garbage in it takes a tenth of a command's start. Python would also look
    # at its end.
    gc.set_threshold(100_000, 20, 100)
    atexit.register(gc.freeze)
    try:
        from rocketchaos.harness.cli.main import main as run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == __package__:
            raise
        print(f"rocketchaos: the package `{error.name}`, which it needs, is not installed", file=sys.stderr)
        print("  Install rocketchaos again with pip or pipx.", file=sys.stderr)
        return _ENVIRONMENT
    except KeyboardInterrupt:
        return _INTERRUPTED
    return run()


if __name__ == "__main__":
    sys.exit(main())
