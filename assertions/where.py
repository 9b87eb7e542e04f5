"""The clients and versions in which a check is used. Pure."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from rocketchaos.harness.language.expectation import is_label
from rocketchaos.harness.language.words import Strict, as_tuple
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.rocketmq.version_range import VersionRange, contains


def _a_label(text: str) -> str:
    if not is_label(text):
        raise ValueError(f"`{text[:40]}` is no client: write `{'`, `'.join(CLIENT_KINDS)}`, or `java+python`")
    return text


_LABEL_SCHEMA = {"type": "string"}
Labels = Annotated[
    tuple[Annotated[str, AfterValidator(_a_label)], ...],
    BeforeValidator(as_tuple),
    WithJsonSchema({"anyOf": [_LABEL_SCHEMA, {"type": "array", "items": _LABEL_SCHEMA, "minItems": 1}]}),
]


class Where(Strict):
    """The runs of a matrix in which this is used; others skip it."""

    client: Labels = Field(
        default=(), description="the kinds of the consumers' clients: `java`, `[python, grpc]`, `java+python`"
    )
    rocketmq: VersionRange = Field(default="", description="the brokers' versions: `>=5.0`")

    @model_validator(mode="after")
    def _says_something(self) -> Where:
        if not self.client and not self.rocketmq:
            raise ValueError("say `client`, `rocketmq`, or both")
        return self

    def fits(self, client: str, rocketmq: str | None) -> bool:
        """Whether a run is one of those; where its version isn't known, no range has it."""
        of_client = not self.client or client in self.client
        of_version = not self.rocketmq or (rocketmq is not None and contains(self.rocketmq, rocketmq))
        return of_client and of_version
