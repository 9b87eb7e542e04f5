"""A consumer that is a program of the user's own, as a scenario declares it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from rocketchaos.harness.language.words import DurationMs, Strict, as_tuple

NAMESERVER = "$nameserver"
"""Where it stands in what the program gets: the name server's address, `127.0.0.1:9876`."""
READY_WITHIN_MS = 120_000


def _as_text(value: Any) -> Any:
    """YAML reads `8080` and `true` as what they are, and programs take text."""
    return str(value).lower() if isinstance(value, bool | int | float) else value


Text = Annotated[str, BeforeValidator(_as_text), WithJsonSchema({"type": ["string", "number", "boolean"]})]
Texts = Annotated[tuple[Text, ...], BeforeValidator(as_tuple)]


class App(Strict):
    """A program of the user's own, started unchanged in a JVM of its own.

    The harness registers RocketMQ's own `ConsumeMessageHook` with the consumers that the program starts, so
    what they get and what their listeners answer comes from the program itself. `$nameserver` stands for the
    name server's address in `args`, `jvm_args`, `properties` and `env`. Topics and groups have the names that
    the scenario gives them, on a cluster of the run's own.
    """

    jar: str = Field(
        min_length=1,
        description="what `java -jar` starts: a plain jar with a Main-Class, or Spring Boot's; a relative "
        "path is looked up from the scenario's file, then from the current folder",
    )
    args: Texts = Field(default=(), description="its arguments: `[--rocketmq.name-server=$nameserver]`")
    jvm_args: Texts = Field(default=(), description="options of its JVM: `[-Xmx512m]`")
    properties: dict[str, Text] = Field(
        default_factory=dict, description="system properties: `{rocketmq.namesrv.addr: $nameserver}`"
    )
    env: dict[str, Text] = Field(
        default_factory=dict, description="environment variables, in addition to those of the harness"
    )
    ready_within: DurationMs = Field(
        default=READY_WITHIN_MS,
        gt=0,
        description="the limit until it has started a consumer of the group; default 120 s",
    )

    def placed(self, nameserver: str) -> App:
        """The same, with the addresses of a cluster for the placeholders."""

        def filled(text: str) -> str:
            return text.replace(NAMESERVER, nameserver)

        def values(given: Mapping[str, str]) -> dict[str, str]:
            return {key: filled(value) for key, value in given.items()}

        return self.model_copy(
            update={
                "args": tuple(map(filled, self.args)),
                "jvm_args": tuple(map(filled, self.jvm_args)),
                "properties": values(self.properties),
                "env": values(self.env),
            }
        )
