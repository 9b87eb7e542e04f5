"""Builds of one's own: what is read of them, what stands for them, and what is said where they are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.jars import builds
from rocketchaos.harness.jars.artifacts import cached, classpath
from rocketchaos.harness.jars.releases import Need, absences, fetch
from rocketchaos.harness.rocketmq import versions
from rocketchaos.harness.rocketmq.client_kinds import client_choice
from rocketchaos.harness.rocketmq.version_range import contains
from tests.unit.jars.made_build import jar, made_build


@pytest.fixture(autouse=True)
def read_anew() -> None:
    builds._read.cache_clear()


def names(jars: tuple[Path, ...]) -> set[str]:
    return {item.name.removeprefix("rocketmq-").partition("-")[0] for item in jars}


def test_it_goes_by_its_version_and_its_digest(tmp_path: Path) -> None:
    name = builds.version_of(str(made_build(tmp_path / "a")))
    assert re.fullmatch(r"5\.5\.1-SNAPSHOT\+[0-9a-f]{8}", name)
    assert builds.named(name).folder == tmp_path / "a"
    assert builds.as_given(name) == str(tmp_path / "a")
    assert builds.version_of(name) == name
    assert versions.parse(name) == (5, 5, 1)
    assert versions.has_proxy(name)
    assert contains(">=5.5.1", name)
    assert not contains("<5.5", name)
    assert str(client_choice(f"java@{name}")) == f"java@{name}"


def test_the_same_jars_are_the_same_build_and_others_another(tmp_path: Path) -> None:
    a, b, c = (
        builds.version_of(str(made_build(tmp_path / name, content=content)))
        for name, content in (("a", ""), ("b", ""), ("c", "changed"))
    )
    assert a == b != c


def test_each_role_has_its_jars(tmp_path: Path) -> None:
    name = builds.version_of(str(made_build(tmp_path, "5.5.0", "proxy")))
    assert names(classpath(name, "client")).isdisjoint({"broker", "namesrv", "proxy", "tools"})
    assert names(classpath(name, "client")) >= {"client", "common", "proto", "netty"}
    assert "tools" in names(classpath(name, "tools"))
    assert names(classpath(name, "tools")).isdisjoint({"broker", "namesrv", "proxy"})
    assert {"broker", "namesrv"} <= names(classpath(name, "server"))
    assert "proxy" not in names(classpath(name, "server"))
    assert "proxy" in names(classpath(name, "all-servers"))


def test_it_is_had_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETCHAOS_MAVEN_REPOSITORY", "http://127.0.0.1:9")
    name = builds.version_of(str(made_build(tmp_path)))
    need, with_proxy = Need(name), Need(name, ("all-servers",))
    assert cached(name)
    assert fetch([need]) == {}
    found = absences([need, with_proxy])
    assert list(found) == [with_proxy]
    assert "no rocketmq-proxy jar" in found[with_proxy].message


def test_a_relative_path_goes_from_the_base(tmp_path: Path) -> None:
    made_build(tmp_path / "mine")
    assert builds.version_of("./mine", tmp_path) == builds.version_of(str(tmp_path / "mine"))
    assert builds.version_of("mine", tmp_path) == builds.version_of(str(tmp_path / "mine"))


def test_a_jar_that_maven_wrote_nothing_into_goes_by_its_name(tmp_path: Path) -> None:
    made_build(tmp_path, "5.5.0")
    jar(tmp_path, "common", "5.5.0", text="")
    assert builds.version_of(str(tmp_path)).startswith("5.5.0+")


def test_no_version_and_no_folder() -> None:
    with pytest.raises(UsageProblem, match="'5\\.5' is no RocketMQ version"):
        builds.version_of("5.5")
    with pytest.raises(UsageProblem, match="doesn't exist"):
        builds.version_of("./nowhere")
    with pytest.raises(UsageProblem, match=r"5\.5\.1\+0a1b2c3d is not known by its name"):
        builds.version_of("5.5.1+0a1b2c3d")


def test_no_lib_names_the_one_that_has_it(tmp_path: Path) -> None:
    made_build(tmp_path / "rocketmq-5.5.1")
    with pytest.raises(UsageProblem, match=r"it has no folder `lib`; rocketmq-5\.5\.1 in it has"):
        builds.version_of(str(tmp_path))


def test_a_missing_module_is_named(tmp_path: Path) -> None:
    made_build(tmp_path)
    next((tmp_path / "lib").glob("rocketmq-broker-*")).unlink()
    with pytest.raises(UsageProblem, match="has no rocketmq-broker jar"):
        builds.version_of(str(tmp_path))


def test_mixed_versions_are_named(tmp_path: Path) -> None:
    made_build(tmp_path, "5.5.0")
    jar(tmp_path, "store", "5.4.0")
    with pytest.raises(
        UsageProblem, match=r"mixes versions of RocketMQ: 5\.4\.0: rocketmq-store-5\.4\.0\.jar; 5\.5"
    ):
        builds.version_of(str(tmp_path))


@pytest.mark.parametrize("name", ["rocketmq-common-5.5.1-SNAPSHOT.jar", "netty-all-4.1.65.Final.jar"])
def test_a_damaged_jar_is_named(tmp_path: Path, name: str) -> None:
    made_build(tmp_path)
    (tmp_path / "lib" / name).write_text("no zip")
    with pytest.raises(UsageProblem, match=f"the jar can't be read: .*{re.escape(name)}"):
        builds.version_of(str(tmp_path))


@pytest.mark.parametrize(
    ("version", "said"), [("4.8.0", "RocketMQ 4.8.0.* is not supported"), ("unknown1", "has no rocketmq")]
)
def test_a_version_that_is_none_of_the_supported(tmp_path: Path, version: str, said: str) -> None:
    made_build(tmp_path, version)
    with pytest.raises(UsageProblem, match=said):
        builds.version_of(str(tmp_path))


def test_a_record_opens_its_builds_again(tmp_path: Path) -> None:
    name = builds.version_of(str(made_build(tmp_path)))
    record = {"builds": {name: builds.named(name).as_json()}}
    builds.open_recorded(record)
    jar(tmp_path, "broker", "5.5.1-SNAPSHOT", content="changed")
    builds._read.cache_clear()
    with pytest.raises(UsageProblem, match=f"the run was of the build {re.escape(name)}, and"):
        builds.open_recorded(record)
    builds.open_recorded({"rocketmq": "5.5.0"})
