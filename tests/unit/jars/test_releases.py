"""Which releases can be had: asked of all before any jar is fetched, and fetched side by side."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, UsageProblem
from rocketchaos.harness.jars import artifacts
from rocketchaos.harness.jars import maven as maven_module
from rocketchaos.harness.jars.releases import Need, Release, absences, fetch, releases
from rocketchaos.harness.rocketmq import versions
from tests.unit.jars.maven_repository import GROUP, Maven, need, serving

ALL = ("rocketmq-namesrv", "rocketmq-broker", "rocketmq-tools", "rocketmq-client")
CLIENT = ("client",)


def release(maven: Maven, version: str, *artifacts: str, needs: str = "") -> None:
    for artifact in artifacts or ALL:
        maven.artifact(GROUP, artifact, version, needs)


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Maven]:
    """As Maven Central is: half releases, and one that a list lacks though it is there."""
    monkeypatch.setattr(maven_module, "_RETRIES", 0)
    # This repository's releases need other jars than the real ones.
    monkeypatch.setattr(artifacts, "released_jars", lambda _bundle: None)
    with serving(tmp_path, monkeypatch) as maven:
        for version in ("4.9.4", "4.9.7", "5.2.0", "5.3.3", "5.4.0"):
            release(maven, version)
        release(maven, "4.9.6", "rocketmq-client")
        release(maven, "4.9.8", "rocketmq-tools", "rocketmq-client")
        release(maven, "5.3.4", "rocketmq-namesrv", "rocketmq-broker")
        maven.artifact(GROUP, "rocketmq-proxy", "5.2.0")
        servers = ("4.8.0", "4.9.4", "4.9.7", "5.2.0", "5.3.3", "5.3.4", "5.4.0")
        maven.listing("rocketmq-namesrv", *servers)
        maven.listing("rocketmq-broker", *servers)
        maven.listing("rocketmq-tools", "4.9.4", "4.9.7", "4.9.8", "5.0.0-ALPHA", "5.2.0", "5.3.3", "5.4.0")
        maven.listing("rocketmq-client", "4.9.4", "4.9.6", "4.9.8", "5.2.0", "5.3.3", "5.4.0")
        maven.listing("rocketmq-proxy", "5.2.0")
        yield maven


def jars_asked(maven: Maven) -> list[str]:
    return [name for name in maven.asked if name.endswith(".jar")]


def test_all_are_asked_for_before_any_jar_is_fetched(maven: Maven) -> None:
    found = absences([Need("4.9.4"), Need("4.9.8"), Need("5.3.3"), Need("4.9.99")])
    assert {need.version: type(error) for need, error in found.items()} == {
        "4.9.8": UsageProblem,
        "4.9.99": UsageProblem,
    }
    assert jars_asked(maven) == []


@pytest.mark.parametrize(
    ("wanted", "missing", "nearest"),
    [
        (Need("4.9.8"), "rocketmq-namesrv and rocketmq-broker are missing", "4.9.4, 4.9.7, 5.2.0, 5.3.3"),
        (Need("5.3.4"), "rocketmq-tools and rocketmq-client are missing", "5.2.0, 5.3.3, 5.4.0"),
        (Need("5.9.9"), "rocketmq-client are missing", "4.9.7, 5.2.0, 5.3.3, 5.4.0"),
        (Need("4.9.5", CLIENT), "rocketmq-client is missing", "4.9.4, 4.9.6, 4.9.8"),
        (Need("5.3.3", ("all-servers",)), "rocketmq-proxy is missing", "5.2.0"),
    ],
)
def test_the_nearest_are_ones_that_are_there_whole(
    maven: Maven, wanted: Need, missing: str, nearest: str
) -> None:
    (error,) = absences([wanted]).values()
    assert f"there is no RocketMQ {wanted.version} in the Maven repository" in error.message
    assert missing in error.message
    named = error.hint.removeprefix("The nearest versions: ").removesuffix(".").split(", ")
    assert set(nearest.split(", ")) <= set(named)
    assert {"5.3.4", "4.8.0", "5.0.0", wanted.version}.isdisjoint(named)


@pytest.mark.parametrize(
    ("version", "nearest"),
    [
        ("9.9.9", "4.9.7, 5.2.0, 5.3.3, 5.4.0"),
        ("6.0.0", "4.9.7, 5.2.0, 5.3.3, 5.4.0"),
        ("3.2.6", "4.9.4, 4.9.7"),
    ],
)
def test_a_version_that_is_not_supported_is_one_of_the_absent(
    maven: Maven, version: str, nearest: str
) -> None:
    found = absences([Need(version), Need("4.9.4"), Need(version, CLIENT)])
    assert {need.version for need in found} == {version}
    error = found[Need(version)]
    assert isinstance(error, UsageProblem)
    assert error.message == f"RocketMQ {version} is not supported: versions 4.9.x and 5.x are"
    assert error.hint.startswith(f"The nearest versions: {nearest}")
    assert not [name for name in maven.asked if f"/{version}/" in name]


def test_without_a_network_the_nearest_are_those_in_the_cache(
    maven: Maven, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch([Need("4.9.4")])
    monkeypatch.setenv("ROCKETCHAOS_MAVEN_REPOSITORY", "http://127.0.0.1:9")
    (error,) = absences([Need("6.0.0")]).values()
    assert error.hint == "The nearest versions: 4.9.4."


def test_what_is_no_version_is_wrong_usage_of_all(maven: Maven) -> None:
    with pytest.raises(UsageProblem, match="'banana' is no RocketMQ version"):
        absences([Need("4.9.4"), Need("banana")])


def test_a_client_alone_is_enough_beside_other_servers(maven: Maven) -> None:
    assert absences([Need("4.9.6", CLIENT), Need("4.9.8", CLIENT)]) == {}


def test_what_is_in_the_cache_needs_no_network(
    maven: Maven, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fetch([Need("4.9.4"), Need("5.3.3")]) == {}
    monkeypatch.setenv("ROCKETCHAOS_MAVEN_REPOSITORY", "http://127.0.0.1:9")
    assert absences([Need("4.9.4"), Need("5.3.3")]) == {}
    assert fetch([Need("4.9.4"), Need("5.3.3")]) == {}
    (error,) = absences([Need("4.9.4"), Need("5.2.0")]).values()
    assert isinstance(error, EnvironmentNotReady)
    assert error.message.startswith(
        "RocketMQ 5.2.0 is not in the cache, and the Maven repository at 127.0.0.1"
    )
    assert error.hint.startswith("In the cache, without a network: 4.9.4, 5.3.3. ")
    found, unreached = releases()
    assert found == [Release("4.9.4", cached=True), Release("5.3.3", cached=True)]
    assert "could not be reached" in str(unreached)


def test_a_repository_that_fails_is_no_proof_that_a_release_is_missing(maven: Maven) -> None:
    maven.failing["rocketmq-tools-5.3.3.pom"] = 403
    (error,) = absences([Need("4.9.4"), Need("5.3.3")]).values()
    assert isinstance(error, EnvironmentNotReady)
    assert "answered HTTP 403" in error.message


def test_every_release_that_can_be_run_here(maven: Maven) -> None:
    fetch([Need("5.2.0")])
    found, unreached = releases()
    assert unreached is None
    assert [(item.version, item.cached) for item in found if not item.lacks] == [
        ("4.9.4", False),
        ("4.9.7", False),
        ("5.2.0", True),
        ("5.3.3", False),
        ("5.4.0", False),
    ]
    parts = {item.version: (item.has, item.lacks) for item in found}
    assert parts["5.2.0"] == (("server", "tools", "client", "proxy"), ())
    assert parts["4.9.6"] == (("client",), ("rocketmq-namesrv", "rocketmq-broker", "rocketmq-tools"))
    assert parts["4.9.7"] == (("server", "tools", "client"), ())
    assert parts["5.3.4"] == (("server",), ("rocketmq-tools", "rocketmq-client"))


def test_versions_are_fetched_side_by_side(maven: Maven) -> None:
    """No answer to the first of one version before the other's is asked for."""
    both = threading.Barrier(2)

    def wait(path: str) -> None:
        if path.endswith(("rocketmq-namesrv-4.9.4.jar", "rocketmq-namesrv-5.3.3.jar")):
            both.wait(20)

    maven.before_answer = wait
    assert fetch([Need("4.9.4"), Need("5.3.3")]) == {}
    assert not both.broken
    assert Need("4.9.4").cached
    assert Need("5.3.3").cached


def test_a_jar_of_several_versions_is_fetched_once(maven: Maven) -> None:
    maven.artifact("test", "library", "1.0")
    for version in ("4.9.4", "4.9.7", "5.3.3", "5.4.0"):
        release(maven, version, needs=need("library", "1.0"))
    assert fetch(Need(version) for version in ("4.9.4", "4.9.7", "5.3.3", "5.4.0")) == {}
    assert maven.asked["library-1.0.jar"] == maven.asked["library-1.0.pom"] == 1


def test_a_version_of_which_a_jar_can_t_be_had_costs_no_other(maven: Maven) -> None:
    (maven.folder / GROUP / "rocketmq-tools/4.9.7/rocketmq-tools-4.9.7.jar").unlink()
    found = fetch([Need("4.9.4"), Need("4.9.7"), Need("5.3.3")])
    assert [need.version for need in found] == ["4.9.7"]
    assert Need("4.9.4").cached
    assert Need("5.3.3").cached


def test_an_unusable_cache_is_a_message(maven: Maven, tmp_path: Path) -> None:
    fetch([Need("4.9.4")])
    shutil.rmtree(tmp_path / "cache" / "maven" / "rocketchaos")
    (tmp_path / "cache" / "maven" / "rocketchaos").touch()
    with pytest.raises(EnvironmentNotReady, match="the cache of jars can't be"):
        fetch([Need("4.9.4")])


def test_supported_releases_in_order() -> None:
    texts = ["5.10.0", "5.9.1", "4.9.4", "4.8.0", "5.0.0-PREVIEW", "4.9.4", "6.0.0", "latest"]
    assert versions.ascending(texts) == ["4.9.4", "5.9.1", "5.10.0"]
    assert versions.nearest("5.9.9", texts, 2) == ["5.9.1", "5.10.0"]
    assert versions.nearest("4.9.0", texts, 2) == ["4.9.4", "5.9.1"]


def test_the_command_lists_them(maven: Maven, capsys: pytest.CaptureFixture[str]) -> None:
    fetch([Need("5.2.0")])
    assert main(["versions"]) == ExitCode.AS_EXPECTED
    lines = capsys.readouterr().out.splitlines()
    listed = "4.9.4, 4.9.6, 4.9.7, 4.9.8, 5.2.0, 5.3.3, 5.3.4, 5.4.0"
    assert ", ".join(line.split()[0] for line in lines) == listed
    assert lines[1].split("  ")[-1] == "can't be run: no rocketmq-namesrv, rocketmq-broker, rocketmq-tools"
    assert lines[4].split() == ["5.2.0", "server", "tools", "client", "proxy", "in", "the", "cache"]
    assert main(["versions", "--json"]) == ExitCode.AS_EXPECTED
    assert json.loads(capsys.readouterr().out)["versions"][6] == {
        "version": "5.3.4",
        "cached": False,
        "runs": False,
        "has": ["server"],
        "lacks": ["rocketmq-tools", "rocketmq-client"],
    }


def test_without_a_network_the_command_lists_the_cache_and_says_so(
    maven: Maven, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCKETCHAOS_MAVEN_REPOSITORY", "http://127.0.0.1:9")
    assert main(["versions"]) == ExitCode.ENVIRONMENT
    assert "could not be reached" in capsys.readouterr().err
