"""A profile of nights: a small YAML file that says what is drawn more often, or never."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, ValidationError, field_validator, model_validator

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.core.text import reason_of
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.language.words import DurationMs, Strict
from rocketchaos.harness.nightly.dimensions import DIMENSIONS
from rocketchaos.harness.nightly.operations import OPERATIONS
from rocketchaos.harness.nightly.triggers import TRIGGERS
from rocketchaos.harness.scenario.diagnostics import InvalidScenario
from rocketchaos.harness.scenario.load import read_yaml

Weight = Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)]
Weights = dict[str, Weight]


class Service(Strict):
    """The group, the subscriptions and the `app` of a consumer, as a scenario has them."""

    group: str = Field(description="its consumer group")
    subscribe: dict[str, Any] = Field(
        default_factory=dict, description="the subscriptions that you expect of the program, by topic"
    )
    app: dict[str, Any] = Field(description="the program; paths start at the profile's folder")
    body: str | None = Field(
        default=None,
        min_length=1,
        description="a file with the text of every message, as `body` of the step `send` has it; default its key",
    )

    @model_validator(mode="after")
    def _is_a_consumer(self) -> Service:
        if not self.subscribe:
            raise ValueError(
                "`subscribe` names no topic: write `subscribe: {orders: '*'}` with those that a night sends to"
            )
        try:
            consumer = Consumer.model_validate(self.fields)
        except ValidationError as error:
            raise ValueError(
                "; ".join(
                    f"{'.'.join(map(str, item['loc'])) or 'the consumer'}: "
                    f"{item['msg'].removeprefix('Value error, ')}"
                    for item in error.errors(include_url=False)
                )
            ) from None
        if consumer.traits.seen_by == "offsets":
            raise ValueError(
                "app: nothing shows which messages it handles, so a night could judge nothing: add `sees`"
            )
        return self

    @property
    def fields(self) -> dict[str, Any]:
        """Its entry in a scenario."""
        return {"group": self.group, "subscribe": dict(self.subscribe), "app": dict(self.app)}


class Profile(Strict):
    """Weights and limits. Everything else keeps its default. If one weight of a dimension is given, the others are
    0."""

    consistent: Literal["drawn", "only"] = Field(
        default="drawn", description="`only`: all members of a group subscribe to the same, and stay with it"
    )
    dimensions: dict[str, Weights] = Field(default_factory=dict, description="by dimension and word")
    operations: Weights = Field(
        default_factory=dict, description="by operation; those that aren't named are never drawn"
    )
    triggers: Weights = Field(default_factory=dict, description="by trigger; the same")
    service: Service | None = Field(
        default=None,
        description="your own service: each group member of the night is this program; `dimensions` of clients, "
        "subscriptions and groups then have no effect",
    )
    longest: DurationMs = Field(
        default=120_000,
        description="the night skips scenarios that are expected to take longer",
        validate_default=False,
    )

    _folder: Path | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path | None:
        """Where its file is; None: it has none."""
        return self._folder

    @model_validator(mode="before")
    @classmethod
    def _former_words(cls, data: Any) -> Any:
        """The words that profiles had before are understood as well."""
        if not isinstance(data, dict):
            return data
        dimensions = data.get("dimensions")
        if isinstance(dimensions, dict):
            data = {
                **data,
                "dimensions": _renamed(dimensions, {"acts": "operations", "mind": "subscriptions"}),
            }
        return _renamed(data, {"acts": "operations", "anchors": "triggers"})

    @field_validator("dimensions")
    @classmethod
    def _known_words(cls, dimensions: dict[str, Weights]) -> dict[str, Weights]:
        for name, weights in dimensions.items():
            _require_known("dimension", name, DIMENSIONS)
            for word in weights:
                _require_known(f"word of `{name}`", word, DIMENSIONS[name].weights)
            _require_some(name, weights)
        return dimensions

    @field_validator("operations")
    @classmethod
    def _known_operations(cls, operations: Weights) -> Weights:
        for name in operations:
            _require_known("operation", name, OPERATIONS)
        return operations

    @field_validator("triggers")
    @classmethod
    def _known_triggers(cls, triggers: Weights) -> Weights:
        for name in triggers:
            _require_known("trigger", name, TRIGGERS)
        if triggers:
            _require_some("triggers", triggers)
        return triggers

    def draw(self, rng: random.Random, dimension: str) -> str:
        """One word along a dimension."""
        return DIMENSIONS[dimension].draw(rng, self.dimensions.get(dimension))

    @property
    def agreeing(self) -> bool:
        """Whether no group may disagree."""
        return self.consistent == "only"

    def weights_of_operations(self) -> Mapping[str, float]:
        """By operation."""
        return self.operations or {name: operation.weight for name, operation in OPERATIONS.items()}

    def weights_of_triggers(self) -> Mapping[str, float]:
        """By trigger."""
        return self.triggers or {name: trigger.weight for name, trigger in TRIGGERS.items()}


def read_profile(path: Path) -> Profile:
    """The profile in a file.

    Raises:
        UsageProblem: it can't be read, or has unknown content.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(
            f"the profile {path} can't be read: {reason_of(error)}",
            "Give a file of YAML; harness/nightly/README.md lists its keys.",
        ) from None
    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        return Profile()
    document, diagnostics = read_yaml(text, str(path), "profile", "dimensions")
    if diagnostics:
        raise InvalidScenario(diagnostics)
    try:
        profile = Profile.model_validate(document.data)
        profile._folder = path.absolute().parent
        return profile
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'the file'}: {item['msg'].removeprefix('Value error, ')}"
            for item in error.errors(include_url=False)
        )
        raise UsageProblem(
            f"the profile {path}: {problems}", "harness/nightly/README.md has all words of profiles."
        ) from None


def _renamed(data: dict[str, Any], words: Mapping[str, str]) -> dict[str, Any]:
    """With the new words, but where those are there too: then the old one is refused."""
    return {
        name if (new := words.get(name)) is None or new in data else new: value
        for name, value in data.items()
    }


def _require_known(what: str, name: str, known: Mapping[str, object]) -> None:
    if name not in known:
        near = nearest(name, known)
        raise ValueError(f"there is no {what} `{name}`" + (f"; did you mean `{near}`?" if near else ""))


def _require_some(name: str, weights: Weights) -> None:
    if not any(weights.values()):
        raise ValueError(f"nothing is left of `{name}`: give some of it a weight above 0")
