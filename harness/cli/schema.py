"""`rocketchaos schema`: the language, for editors."""

from __future__ import annotations

import json
import sys

from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.reference.schema import json_schema


def schema() -> ExitCode:
    """Print the JSON Schema of scenario files, for completion and checking in an editor."""
    json.dump(json_schema(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
    return ExitCode.AS_EXPECTED
