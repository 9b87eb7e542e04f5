from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from docker.errors import APIError, ImageNotFound

from rocketchaos.harness.containers import images
from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.images import (
    Choice,
    Image,
    Images,
    Kind,
    NotPulled,
    choose,
    chosen_by_user,
    missing,
    pull,
    users_image,
)
from rocketchaos.harness.core import configuration
from rocketchaos.harness.core.configuration import Configuration, ImageNames
from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem

OFFICIAL = "apache/rocketmq:4.9.4"
BUILT = "rocketchaos/rocketmq:4.9.4"


def has(*names: str) -> Callable[[str], bool]:
    return lambda name: name in names


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ((), Choice(OFFICIAL, "official", may_be_pulled=True)),
        ((OFFICIAL,), Choice(OFFICIAL, "official", may_be_pulled=True)),
        ((BUILT,), Choice(BUILT, "built by make images", may_be_pulled=False)),
        ((OFFICIAL, BUILT), Choice(OFFICIAL, "official", may_be_pulled=True)),
        (
            ("apache/rocketmq:5.5.0", "rocketchaos/rocketmq:5.5.0"),
            Choice(OFFICIAL, "official", may_be_pulled=True),
        ),
    ],
)
def test_the_official_image_then_the_built_one_then_the_official_one_again(
    there: Collection[str], expected: Choice
) -> None:
    assert choose("rocketmq", "4.9.4", has(*there)) == expected


@pytest.mark.parametrize("there", [(), ("rocketchaos/worker:latest",)])
def test_a_worker_s_image_is_never_looked_for_in_a_registry(there: Collection[str]) -> None:
    assert choose("worker", "", has(*there)) == Choice(
        "rocketchaos/worker:latest", "built by make images", may_be_pulled=False
    )


def test_the_environment_comes_before_the_configuration_file() -> None:
    file = Configuration(ImageNames(rocketmq="file:{version}", worker="w:1"), Path("c.toml"))
    environment = {"ROCKETCHAOS_IMAGE_ROCKETMQ": "mine:{version}-x"}
    assert chosen_by_user("rocketmq", "5.5.0", environment, file) == Choice(
        "mine:5.5.0-x", "ROCKETCHAOS_IMAGE_ROCKETMQ", may_be_pulled=True
    )
    assert chosen_by_user("rocketmq", "5.5.0", {}, file) == Choice(
        "file:5.5.0", "images.rocketmq in c.toml", may_be_pulled=True
    )
    assert chosen_by_user("worker", "", environment, file) == Choice(
        "w:1", "images.worker in c.toml", may_be_pulled=True
    )
    assert chosen_by_user("dashboard", "1.0.0", environment, file) is None


def test_a_variable_that_names_no_image_is_the_user_s_mistake() -> None:
    with pytest.raises(UsageProblem, match="ROCKETCHAOS_IMAGE_WORKER"):
        chosen_by_user("worker", "", {"ROCKETCHAOS_IMAGE_WORKER": "w:{ver}"}, Configuration())


@pytest.mark.parametrize(
    ("kind", "version", "command"),
    [
        ("rocketmq", "4.9.3", "`make images VERSIONS=4.9.3`"),
        ("dashboard", "1.0.0", "`make images DASHBOARD=1.0.0=FILE.jar`"),
        ("worker", "", "`make images`"),
    ],
)
def test_a_missing_image_names_the_image_and_both_ways_out(kind: Kind, version: str, command: str) -> None:
    problem = missing(kind, version, Choice("the/name:1", "official", may_be_pulled=True), "no such host")
    assert problem.exit_code == 4
    for words in ("the/name:1 (official)", "no such host", command, f"ROCKETCHAOS_IMAGE_{kind.upper()}"):
        assert words in str(problem)


class Fake:
    """The part of docker-py that is used; not an engine: what it answers is written down here."""

    def __init__(self, there: Collection[str], pulled: Mapping[str, Any] | None = None) -> None:
        self.there = dict.fromkeys(there, "sha256:1")
        self.pulled = dict(pulled or {})
        self.asked: list[str] = []
        self.variables = ["ROCKETMQ_VERSION=4.9.4", "ROCKETMQ_HOME=/r", "EQUALS=a=b"]
        self.images = self.api = self

    @property
    def engine(self) -> Engine:
        return Engine(self)  # type: ignore[arg-type]

    def get(self, name: str) -> Any:
        name = name if ":" in name else f"{name}:latest"
        if name not in self.there:
            raise ImageNotFound("no such image")
        attributes = {"Id": self.there[name], "Config": {"Env": self.variables, "User": "rocketmq"}}
        return SimpleNamespace(attrs=attributes)

    def pull(self, repository: str, tag: str, stream: bool, decode: bool) -> Any:
        self.asked.append(f"{repository}:{tag}")
        answer = self.pulled.get(f"{repository}:{tag}", APIError("500", explanation="dial tcp: no such host"))
        if isinstance(answer, Exception):
            raise answer
        self.there[f"{repository}:{tag}"] = "sha256:2"
        return iter(answer)


def finder(fake: Fake, **environment: str) -> Images:
    nowhere = {configuration.CONFIGURATION_VARIABLE: "/dev/null"}
    return Images(fake.engine, lambda _text: None, nowhere | environment)


def test_an_image_that_is_there_is_described_and_nothing_is_pulled() -> None:
    fake = Fake([BUILT])
    image = finder(fake).rocketmq("4.9.4")
    assert (image.name, image.id, image.reason) == (BUILT, "sha256:1", "built by make images")
    assert image.rocketmq_home == "/r"
    assert image.home == "/home/rocketmq"
    assert image.environment["EQUALS"] == "a=b"
    assert fake.asked == []


def test_what_the_engine_lacks_is_pulled_once() -> None:
    fake = Fake([], {OFFICIAL: [{"status": "Download complete"}]})
    found = finder(fake)
    assert found.rocketmq("4.9.4").id == "sha256:2"
    assert found.rocketmq("4.9.4").reason == "official"
    assert fake.asked == [OFFICIAL]


def test_a_chosen_image_is_pulled_too_though_another_would_be_there() -> None:
    fake = Fake([OFFICIAL], {"mine:latest": []})
    image = finder(fake, ROCKETCHAOS_IMAGE_ROCKETMQ="mine").rocketmq("4.9.4")
    assert (image.name, image.reason) == ("mine", "ROCKETCHAOS_IMAGE_ROCKETMQ")
    assert fake.asked == ["mine:latest"]


def test_an_unreachable_registry_is_named_with_the_ways_out() -> None:
    with pytest.raises(EnvironmentNotReady) as raised:
        finder(Fake([])).rocketmq("4.9.4")
    assert "no such host" in str(raised.value)
    assert OFFICIAL in str(raised.value)


def test_a_missing_worker_is_not_pulled() -> None:
    fake = Fake([])
    with pytest.raises(EnvironmentNotReady, match=r"rocketchaos/worker:latest .*make images"):
        finder(fake).worker()
    assert fake.asked == []


def test_an_image_of_another_version_is_refused() -> None:
    fake = Fake(["mine:1"])
    with pytest.raises(UsageProblem, match=r"mine:1 .* has RocketMQ 4\.9\.4, and 5\.5\.0 is wanted"):
        finder(fake, ROCKETCHAOS_IMAGE_ROCKETMQ="mine:1").rocketmq("5.5.0")


def test_an_image_without_the_contract_is_refused() -> None:
    image = Image("mine:1", "sha256:1", "official", {}, "")
    assert image.home == "/root"
    with pytest.raises(EnvironmentNotReady, match="ROCKETMQ_HOME"):
        _ = image.rocketmq_home


def test_an_error_in_the_middle_of_a_pull_is_one() -> None:
    fake = Fake([], {OFFICIAL: [{"status": "Downloading"}, {"error": "unauthorized\n"}]})
    with pytest.raises(NotPulled, match=r"^unauthorized$"):
        pull(fake.engine, OFFICIAL, lambda _text: None)


def test_a_registry_that_has_no_such_image_is_distinguished_from_one_that_cannot_be_reached() -> None:
    fake = Fake(
        [], {"a:1": ImageNotFound("404", explanation="manifest unknown"), "b:1": requests.ReadTimeout()}
    )
    with pytest.raises(NotPulled) as unknown:
        pull(fake.engine, "a:1", lambda _text: None)
    with pytest.raises(NotPulled) as unreachable:
        pull(fake.engine, "b:1", lambda _text: None)
    assert unknown.value.unknown_image
    assert not unreachable.value.unknown_image


def test_a_long_pull_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "_SAY_EVERY_S", -1.0)
    layers = [("a", 1_000_000, 4_000_000), ("b", 2_000_000, 6_000_000), ("a", 4_000_000, 4_000_000)]
    events = [
        {"status": "Downloading", "id": name, "progressDetail": {"current": current, "total": total}}
        for name, current, total in layers
    ]
    said: list[str] = []
    pull(Fake([], {"x/y:1": events}).engine, "x/y:1", said.append)
    assert said == [
        "pulling the image x/y:1",
        "pulling the image x/y:1: 1 of 4 MB",
        "pulling the image x/y:1: 3 of 10 MB",
        "pulling the image x/y:1: 6 of 10 MB",
    ]


def of_a_user(*, there: bool, pulled: bool = True) -> Engine:
    """An engine that has a user's image, or can or can't pull it."""
    had = {"shop:1.4"} if there else set()

    def get(name: str) -> Any:
        if name not in had:
            raise ImageNotFound("no such image")
        return SimpleNamespace(attrs={"Id": "sha256:1"})

    def pull_(repository: str, tag: str, **_: object) -> list[dict[str, str]]:
        if not pulled:
            raise APIError("x", None, "no route to registry")
        had.add(f"{repository}:{tag}")
        return []

    client: Any = SimpleNamespace(images=SimpleNamespace(get=get), api=SimpleNamespace(pull=pull_))
    return Engine(client)


def test_a_user_s_image_is_the_engine_s_or_pulled() -> None:
    assert users_image(of_a_user(there=True, pulled=False), "shop:1.4", print) == "sha256:1"
    assert users_image(of_a_user(there=False), "shop:1.4", print) == "sha256:1"
    with pytest.raises(
        EnvironmentNotReady, match=r"no image shop:1\.4, and can't pull it: no route"
    ) as error:
        users_image(of_a_user(there=False, pulled=False), "shop:1.4", print)
    assert "docker build -t shop:1.4 ." in str(error.value)
