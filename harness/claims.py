"""The claims that checks carry: one sentence each, in `scenarios/claims.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import yaml

from harness.library import scenarios_folder


@cache
def claims() -> Mapping[str, str]:
    """The sentence of each claim by its id, `B01`."""
    text = (scenarios_folder() / "claims.yaml").read_text(encoding="utf-8")
    found: dict[str, str] = yaml.safe_load(text)
    return MappingProxyType({name: " ".join(sentence.split()) for name, sentence in found.items()})
