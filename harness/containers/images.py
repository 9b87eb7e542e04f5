"""Which container image serves what: the user's choice, the official one, or the one that `make images` built."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any, Literal

import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.utils import parse_repository_tag

from rocketchaos.harness.containers.container_engine import Engine, refusals
from rocketchaos.harness.core.configuration import PLACEHOLDER, Configuration, check_image_name, load
from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem

Kind = Literal["rocketmq", "dashboard", "worker", "toxiproxy"]
Progress = Callable[[str], None]

_SAY_EVERY_S = 5.0
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Names:
    """The images that serve one purpose, by name; `{version}` stands for RocketMQ's or the dashboard's version."""

    official: str | None
    """Whoever reaches a registry can pull it."""
    built: str
    """`make images` builds it. Never pulled: on a registry that name may be anybody's."""


NAMES: Mapping[Kind, Names] = {
    "rocketmq": Names("apache/rocketmq:{version}", "rocketchaos/rocketmq:{version}"),
    "dashboard": Names("apacherocketmq/rocketmq-dashboard:{version}", "rocketchaos/dashboard:{version}"),
    "worker": Names(None, "rocketchaos/worker:latest"),
    "toxiproxy": Names("ghcr.io/shopify/toxiproxy:2.12.0", "rocketchaos/toxiproxy:latest"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """An image by name, and why it is this one."""

    name: str
    reason: str
    """`ROCKETCHAOS_IMAGE_ROCKETMQ`, `images.rocketmq in FILE`, `official`, or `built by make images`."""
    may_be_pulled: bool


@dataclass(frozen=True)
class Image:
    """An image that the engine has."""

    name: str
    id: str
    """`sha256:…`: the image's identity, even if its name moves to another one."""
    reason: str
    """As in `Choice`."""
    environment: Mapping[str, str]
    """Its ENV."""
    user: str
    """Its USER; empty: root."""

    @property
    def rocketmq_home(self) -> str:
        """Where RocketMQ is in it.

        Raises:
            EnvironmentNotReady: it doesn't say.
        """
        home = self.environment.get("ROCKETMQ_HOME")
        if home is None:
            raise EnvironmentNotReady(
                f"the image {self.name} has no ROCKETMQ_HOME in its environment",
                "Choose one that keeps the contract of apache/rocketmq; see docker/rocketmq/Dockerfile.",
            )
        return home

    @property
    def home(self) -> str:
        """The home of its user, where RocketMQ's servers keep stores and logs by default."""
        user = self.user.partition(":")[0]
        standard = "/root" if user in ("", "root", "0") else f"/home/{user}"
        return self.environment.get("HOME", standard)


class Images:
    """Finds the images of one run; the engine is asked once for each."""

    def __init__(
        self,
        engine: Engine,
        progress: Progress,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._engine = engine
        self._progress = progress
        self._environment = environment
        self._found: dict[tuple[Kind, str], Image] = {}

    def rocketmq(self, version: str) -> Image:
        """All servers of this version.

        Raises:
            EnvironmentNotReady: the engine has none, and none can be pulled.
            UsageProblem: the configuration file or a variable is wrong, or names an image of another version.
        """
        image = self._image("rocketmq", version)
        actual = image.environment.get("ROCKETMQ_VERSION", version)
        if actual != version:
            raise UsageProblem(
                f"the image {image.name} ({image.reason}) has RocketMQ {actual}, and {version} is wanted",
                f"Let its name hold {PLACEHOLDER}, or ask for RocketMQ {actual}.",
            )
        return image

    def dashboard(self, version: str) -> Image:
        """The RocketMQ dashboard of this version of its own; raises as `rocketmq`."""
        return self._image("dashboard", version)

    def worker(self) -> Image:
        """What a worker runs on; raises as `rocketmq`."""
        return self._image("worker", "")

    def toxiproxy(self) -> Image:
        """Toxiproxy; raises as `rocketmq`."""
        return self._image("toxiproxy", "")

    def there(self, kind: Kind, version: str) -> tuple[Choice, bool]:
        """Which image would be taken, and whether the engine has it already; raises as `rocketmq`."""
        choice = self._choice(kind, version)
        return choice, self._get(choice.name) is not None

    def _choice(self, kind: Kind, version: str) -> Choice:
        chosen = chosen_by_user(kind, version, self._environment, self._configuration)
        return chosen or choose(kind, version, lambda name: self._get(name) is not None)

    @cached_property
    def _configuration(self) -> Configuration:
        return load(self._environment)

    def _image(self, kind: Kind, version: str) -> Image:
        if (kind, version) not in self._found:
            self._found[kind, version] = self._resolve(kind, version, self._choice(kind, version))
        return self._found[kind, version]

    def _resolve(self, kind: Kind, version: str, choice: Choice) -> Image:
        attributes = self._get(choice.name)
        if attributes is None:
            try:
                if not choice.may_be_pulled:
                    raise NotPulled("it comes from no registry")
                pull(self._engine, choice.name, self._progress)
            except NotPulled as error:
                raise missing(kind, version, choice, str(error)) from error
            attributes = self._get(choice.name)
        if attributes is None:
            raise missing(kind, version, choice, "the engine pulled it, and doesn't have it")
        configuration = attributes["Config"]
        variables = (line.partition("=") for line in configuration["Env"] or ())
        return Image(
            choice.name,
            str(attributes["Id"]),
            choice.reason,
            {key: value for key, _, value in variables},
            str(configuration["User"] or ""),
        )

    def _get(self, name: str) -> dict[str, Any] | None:
        return attributes_of(self._engine, name)


def attributes_of(engine: Engine, name: str) -> dict[str, Any] | None:
    """What the engine knows of an image; None if it has none of that name.

    Raises:
        UsageProblem: no image can have this name.
        EnvironmentNotReady: the engine refuses.
    """
    with refusals(f"the image {name} can't be looked up"):
        try:
            return dict(engine.client.images.get(name).attrs)
        except ImageNotFound:
            return None
        except APIError as error:
            if error.status_code != HTTPStatus.BAD_REQUEST:
                raise
            raise UsageProblem(f"no image can have this name: {error.explanation}", "Correct it.") from error


def users_image(engine: Engine, name: str, progress: Progress) -> str:
    """The id of the image of a user's program: the engine's own, else pulled from its registry.

    Raises:
        EnvironmentNotReady: it isn't available.
        UsageProblem: no image can have this name.
    """
    attributes = attributes_of(engine, name)
    if attributes is None:
        try:
            pull(engine, name, progress)
        except NotPulled as error:
            raise EnvironmentNotReady(
                f"the engine has no image {name}, and can't pull it: {error}",
                f"Build it first (`docker build -t {name} .`), log in to its registry, or correct `image` in the "
                "scenario.",
            ) from error
        attributes = attributes_of(engine, name)
    if attributes is None:
        raise EnvironmentNotReady(f"the engine pulled the image {name}, and doesn't have it")
    return str(attributes["Id"])


def variable(kind: Kind) -> str:
    """The environment variable that chooses the image."""
    return f"ROCKETCHAOS_IMAGE_{kind.upper()}"


def chosen_by_user(
    kind: Kind, version: str, environment: Mapping[str, str], configuration: Configuration
) -> Choice | None:
    """The user's choice: the environment's, else the configuration file's; None if there is none.

    Raises:
        UsageProblem: the variable holds no name of an image.
    """
    if named := environment.get(variable(kind)):
        check_image_name(named, variable(kind))
        return Choice(named.replace(PLACEHOLDER, version), variable(kind), may_be_pulled=True)
    configured: str | None = getattr(configuration.images, kind)
    if configured is None:
        return None
    reason = f"images.{kind} in {configuration.file}"
    return Choice(configured.replace(PLACEHOLDER, version), reason, may_be_pulled=True)


def choose(kind: Kind, version: str, engine_has: Callable[[str], bool]) -> Choice:
    """The image where the user chose none: one that the engine has, the official one first; else the official."""
    names = NAMES[kind]
    built = Choice(names.built.replace(PLACEHOLDER, version), "built by make images", may_be_pulled=False)
    if names.official is None:
        return built
    official = Choice(names.official.replace(PLACEHOLDER, version), "official", may_be_pulled=True)
    return built if not engine_has(official.name) and engine_has(built.name) else official


def missing(kind: Kind, version: str, choice: Choice, reason: str) -> EnvironmentNotReady:
    """That an image isn't available, and the ways out."""
    if kind == "rocketmq":
        command = f"`make images VERSIONS={version}`"
    elif kind == "dashboard":
        command = f"`make images DASHBOARD={version}=FILE.jar`"
    else:
        command = "`make images`"
    return EnvironmentNotReady(
        f"there is no image {choice.name} ({choice.reason}): {reason}",
        f"Build one with {command} in a clone of the project, or let {variable(kind)} name one that this "
        "machine has or reaches.",
    )


class NotPulled(Exception):
    """The registry can't be reached, or has no such image; with the reason in a few words."""

    def __init__(self, reason: str, *, unknown_image: bool = False) -> None:
        super().__init__(reason)
        self.unknown_image = unknown_image
        """The registry answered that it has none."""


def pull(engine: Engine, name: str, progress: Progress) -> None:
    """Fetch an image from its registry.

    Raises:
        NotPulled: it isn't available.
    """
    repository, tag = parse_repository_tag(name)
    progress(f"pulling the image {name}")
    try:
        # Without a tag the engine would fetch all that there are.
        events = engine.client.api.pull(repository, tag=tag or "latest", stream=True, decode=True)
        _follow(events, name, progress)
    except APIError as error:
        unknown = isinstance(error, NotFound)
        raise NotPulled(str(error.explanation or error).strip(), unknown_image=unknown) from error
    except (DockerException, requests.RequestException) as error:
        raise NotPulled(f"the engine doesn't answer: {error}") from error


def _follow(events: Iterable[Mapping[str, Any]], name: str, progress: Progress) -> None:
    """Report from time to time how much of its layers is there; raises as `pull`."""
    layers: dict[str, tuple[int, int]] = {}
    said_s = time.monotonic()
    for event in events:
        if "error" in event:
            raise NotPulled(str(event["error"]).strip())
        detail = event.get("progressDetail") or {}
        if event.get("status") == "Downloading" and detail.get("total"):
            layers[event["id"]] = int(detail["current"]), int(detail["total"])
        if layers and time.monotonic() - said_s > _SAY_EVERY_S:
            said_s = time.monotonic()
            current, total = (sum(numbers) // _MB for numbers in zip(*layers.values(), strict=True))
            progress(f"pulling the image {name}: {current} of {total} MB")
