"""The claims: those that checks carry, `scenarios/claims.yaml`, and those that none confirms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import yaml

from harness.library import scenarios_folder


@cache
def claims() -> Mapping[str, str]:
    """The sentence of each claim that a check carries, by its id, `B01`."""
    found: dict[str, str] = _read("claims.yaml")
    return MappingProxyType({name: " ".join(sentence.split()) for name, sentence in found.items()})


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """A claim that no check confirms."""

    said: str
    verdict: str
    """`refuted`, `refuted from 4.9.4 on`, `open`."""
    instead: str
    """What is so, or what is known."""


@cache
def unconfirmed_claims() -> Mapping[str, Unconfirmed]:
    """The claims of `scenarios/unconfirmed-claims.yaml` by their ids, `A07`."""
    found: dict[str, dict[str, str]] = _read("unconfirmed-claims.yaml")
    return MappingProxyType({name: Unconfirmed(**claim) for name, claim in found.items()})


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((scenarios_folder() / name).read_text(encoding="utf-8"))
    return content
