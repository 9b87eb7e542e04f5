"""What a night is to be like: a small YAML file that says what is drawn more often, or never."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, field_validator

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.language.words import DurationMs, Strict
from rocketchaos.harness.nightly.dimensions import DIMENSIONS
from rocketchaos.harness.nightly.operations import OPERATIONS
from rocketchaos.harness.nightly.triggers import TRIGGERS
from rocketchaos.harness.scenario.diagnostics import InvalidScenario
from rocketchaos.harness.scenario.load import read_yaml

Weight = Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)]
Weights = dict[str, Weight]


class Profile(Strict):
    """Weights and limits. What is not said stays as it is; where a weight of a dimension is, all others are 0."""

    consistent: Literal["drawn", "only"] = Field(
        default="drawn", description="`only`: all members of a group subscribe to the same, and stay with it"
    )
    dimensions: dict[str, Weights] = Field(default_factory=dict, description="by dimension and word")
    acts: Weights = Field(default_factory=dict, description="by act; those that aren't named are never drawn")
    anchors: Weights = Field(default_factory=dict, description="by anchor; the same")
    longest: DurationMs = Field(
        default=120_000,
        description="scenarios that are expected to take longer are passed over",
        validate_default=False,
    )

    @field_validator("dimensions")
    @classmethod
    def _known_words(cls, dimensions: dict[str, Weights]) -> dict[str, Weights]:
        for name, weights in dimensions.items():
            _require_known("dimension", name, DIMENSIONS)
            for word in weights:
                _require_known(f"word of `{name}`", word, DIMENSIONS[name].weights)
            _require_some(name, weights)
        return dimensions

    @field_validator("acts")
    @classmethod
    def _known_acts(cls, acts: Weights) -> Weights:
        for name in acts:
            _require_known("act", name, OPERATIONS)
        return acts

    @field_validator("anchors")
    @classmethod
    def _known_anchors(cls, anchors: Weights) -> Weights:
        for name in anchors:
            _require_known("anchor", name, TRIGGERS)
        if anchors:
            _require_some("anchors", anchors)
        return anchors

    def draw(self, rng: random.Random, dimension: str) -> str:
        """One word along a dimension."""
        return DIMENSIONS[dimension].draw(rng, self.dimensions.get(dimension))

    @property
    def agreeing(self) -> bool:
        """Whether no group may disagree."""
        return self.consistent == "only"

    def weights_of_acts(self) -> Mapping[str, float]:
        """By act."""
        return self.acts or {name: act.weight for name, act in OPERATIONS.items()}

    def weights_of_anchors(self) -> Mapping[str, float]:
        """By anchor."""
        return self.anchors or {name: anchor.weight for name, anchor in TRIGGERS.items()}


def read_profile(path: Path) -> Profile:
    """The profile in a file.

    Raises:
        UsageProblem: it can't be read, or says what nobody understands.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(f"the profile {path} can't be read: {error}") from None
    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        return Profile()
    document, diagnostics = read_yaml(text, str(path), "profile", "dimensions")
    if diagnostics:
        raise InvalidScenario(diagnostics)
    try:
        return Profile.model_validate(document.data)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'the file'}: {item['msg'].removeprefix('Value error, ')}"
            for item in error.errors(include_url=False)
        )
        raise UsageProblem(
            f"the profile {path}: {problems}", "harness/nightly/README.md has all words of profiles."
        ) from None


def _require_known(what: str, name: str, known: Mapping[str, object]) -> None:
    if name not in known:
        near = nearest(name, known)
        raise ValueError(f"there is no {what} `{name}`" + (f"; did you mean `{near}`?" if near else ""))


def _require_some(name: str, weights: Weights) -> None:
    if not any(weights.values()):
        raise ValueError(f"nothing is left of `{name}`: give some of it a weight above 0")
