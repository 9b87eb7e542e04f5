"""The user's configuration file, `rocketchaos.toml`: what is the same for every run on a machine.

[images]
rocketmq = "registry.example.org/rocketmq:{version}"
worker = "registry.example.org/rocketchaos-worker:1"
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.nearest import clipped, listed, nearest

CONFIGURATION_VARIABLE = "ROCKETCHAOS_CONFIG"
"""The environment variable that names the file."""
FILE_NAME = "rocketchaos.toml"
PLACEHOLDER = "{version}"
"""In the name of an image: RocketMQ's version."""

_BRACED = re.compile(r"\{[^{}]*\}|[{}\s]")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ImageNames(_Strict):
    """`[images]`: the container image for each role; a name may contain `{version}`."""

    rocketmq: StrictStr | None = Field(default=None, min_length=1)
    dashboard: StrictStr | None = Field(default=None, min_length=1)
    worker: StrictStr | None = Field(default=None, min_length=1)
    toxiproxy: StrictStr | None = Field(default=None, min_length=1)


class _Content(_Strict):
    images: ImageNames = ImageNames()


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings of the file; all defaults if there is none."""

    images: ImageNames = field(default_factory=ImageNames)
    file: Path | None = None


def load(environment: Mapping[str, str] = os.environ) -> Configuration:
    """Read the file that ROCKETCHAOS_CONFIG names, or the one in this folder, or the user's own.

    Raises:
        UsageProblem: the file that was named is not there, or it is no TOML, or a word in it is unknown.
    """
    file = _find(environment)
    if file is None:
        return Configuration()
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageProblem(
            f"the configuration file can't be read: {error.strerror}: {file}",
            f"Correct {CONFIGURATION_VARIABLE}, or the file's permissions.",
        ) from error
    except ValueError as error:
        raise UsageProblem(f"the configuration file is no TOML: {file}: {error}", "Correct it.") from error
    try:
        read = _Content.model_validate(content)
    except ValidationError as error:
        raise _problem(file, error) from error
    for key, name in read.images.model_dump(exclude_none=True).items():
        check_image_name(name, f"images.{key} in {file}")
    return Configuration(read.images, file)


def check_image_name(name: str, place: str) -> None:
    """Refuse braces that mean nothing, and blanks.

    Args:
        name: of an image, as the user wrote it.
        place: where it was written.

    Raises:
        UsageProblem: it can't be the name of an image.
    """
    wrong = next((found for found in _BRACED.findall(name) if found != PLACEHOLDER), None)
    if wrong is not None or not name:
        raise UsageProblem(
            f"{place} is no name of an image: {clipped(name)!r}",
            f"Give one such as `apache/rocketmq:{PLACEHOLDER}`; {PLACEHOLDER} is all that is replaced.",
        )


def _find(environment: Mapping[str, str]) -> Path | None:
    if named := environment.get(CONFIGURATION_VARIABLE):
        return Path(named).expanduser()
    places = (Path(FILE_NAME), platformdirs.user_config_path("rocketchaos") / FILE_NAME)
    return next((place for place in places if place.is_file()), None)


def _problem(file: Path, error: ValidationError) -> UsageProblem:
    first: Any = error.errors(include_url=False)[0]
    path = [str(part) for part in first["loc"]]
    key = clipped(".".join(path))
    if first["type"] != "extra_forbidden":
        return UsageProblem(f"{key} in {file}: {first['msg']}", "Correct it, or leave it out.")
    model = _Content if len(path) == 1 else ImageNames
    allowed = list(model.model_fields)
    near = nearest(path[-1], allowed)
    meant = f"Is `{near}` meant? " if near else ""
    return UsageProblem(f"{key} in {file} is unknown", f"{meant}There is {listed(allowed)}.")
