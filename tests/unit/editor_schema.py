"""The schema for editors, made once for all tests of a process."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema
import yaml

from rocketchaos.harness.reference.schema import json_schema

schema = cache(json_schema)


@cache
def _validator() -> Any:
    return jsonschema.Draft202012Validator(schema())


def mistakes(text: str) -> list[str]:
    """What an editor underlines in this YAML."""
    return [error.message for error in _validator().iter_errors(yaml.load(text, yaml.CSafeLoader))]
