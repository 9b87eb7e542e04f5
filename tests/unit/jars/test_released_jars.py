"""The list of the releases' jars: what it has is what Maven resolves, and what it lacks is asked of Maven."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketchaos.harness.core import paths
from rocketchaos.harness.jars import artifacts, released_jars
from rocketchaos.harness.jars import maven as maven_module
from rocketchaos.harness.jars.maven import Repository
from rocketchaos.harness.rocketmq import versions
from tests.unit.jars.maven_repository import GROUP, serving

LISTED = tuple(json.loads(released_jars.FILE.read_text(encoding="utf-8"))["bundles"])


@pytest.mark.parametrize("name", LISTED)
def test_each_bundle_has_its_own_artifacts(name: str) -> None:
    version, _, role = name.partition("-")
    bundle = artifacts.bundle(version, role)  # type: ignore[arg-type]
    assert bundle.complete
    assert set(artifacts.coordinates(version, role)) <= set(bundle.coordinates)  # type: ignore[arg-type]
    assert len(set(bundle.coordinates)) == len(bundle.coordinates)


def test_servers_tools_and_clients_of_every_version_are_listed() -> None:
    of = {name.partition("-")[0] for name in LISTED}
    assert {"4.9.0", "4.9.4", "5.0.0", "5.5.0"} <= of
    for version in of:
        roles = [*artifacts.ARTIFACTS, *(["all-servers"] if versions.has_proxy(version) else [])]
        lacking = {role for role in roles if f"{version}-{role}" not in LISTED}
        # Maven Central has no proxy of 5.1.4.
        assert lacking == ({"all-servers"} if version == "5.1.4" else set())


def test_of_another_release_the_poms_are_asked() -> None:
    assert not artifacts.bundle("5.99.0", "client").complete


def test_a_listed_release_asks_no_pom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maven_module, "_RETRIES", 0)
    listed = [f"{artifacts.GROUP}:rocketmq-client:4.9.4", "a:b:1:native"]
    monkeypatch.setattr(artifacts, "released_jars", lambda _bundle: listed)
    said: list[str] = []
    with serving(tmp_path, monkeypatch) as maven:
        maven.artifact(GROUP, "rocketmq-client", "4.9.4")
        maven.listing("rocketmq-client", "4.9.4")
        maven.put("a/b/1/b-1-native.jar", b"native")
        jars = artifacts.classpath("4.9.4", "client", said.append)
    assert [jar.name for jar in jars] == ["rocketmq-client-4.9.4.jar", "b-1-native.jar"]
    assert "b-1.pom" not in maven.asked
    assert not [text for text in said if "resolving" in text]


def test_the_file_is_what_is_made_of_its_bundles() -> None:
    bundles = {name: released_jars.released_jars(name) or [] for name in LISTED}
    assert released_jars.text(bundles) == released_jars.FILE.read_text(encoding="utf-8")


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in LISTED if name.startswith(("4.9.4-", "5.5.0-"))])
def test_maven_resolves_the_same(name: str) -> None:
    version, _, role = name.partition("-")
    repository = Repository(paths.maven_folder(), lambda _text: None)
    assert repository.resolved(artifacts.resolved_bundle(version, role)) == released_jars.released_jars(name)  # type: ignore[arg-type]
