"""`rocketchaos schema`: the language, for editors."""

from rocketchaos.harness.cli.terminal import OUT
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.reference.schema import json_schema


def schema() -> ExitCode:
    """Print the JSON Schema of scenario files, for completion and checking in an editor."""
    OUT.print_json(json_schema())
    return ExitCode.AS_EXPECTED
