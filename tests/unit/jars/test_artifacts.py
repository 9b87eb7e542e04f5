from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.jars import artifacts
from tests.unit.jars.maven_repository import GROUP, Maven, need, serving


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Maven]:
    with serving(tmp_path, monkeypatch) as maven:
        maven.artifact("test", "library", "1.0")
        maven.artifact("test", "only-for-tests", "1.0")
        maven.artifact("test", "exact", "2.0", need("library", "1.0"))
        needs = need("exact", "[2.0]") + need("only-for-tests", "1.0", "<scope>test</scope>")
        maven.artifact(GROUP, "rocketmq-client", "4.9.40", needs)
        maven.listing("rocketmq-client", "4.8.0", "4.9.4", "4.9.7", "5.0.0", "5.1.0", "5.1.0-RC")
        yield maven


def names(jars: tuple[Path, ...]) -> set[str]:
    return {jar.name for jar in jars}


EXPECTED = {"rocketmq-client-4.9.40.jar", "exact-2.0.jar", "library-1.0.jar"}


def test_everything_needed_at_run_time_is_fetched_and_nothing_else(maven: Maven) -> None:
    jars = artifacts.classpath("4.9.40", "client")
    assert names(jars) == EXPECTED
    assert all(jar.stat().st_size == 2000 for jar in jars)


def test_when_everything_is_cached_neither_network_nor_resolver_is_used(maven: Maven) -> None:
    first = artifacts.classpath("4.9.40", "client")
    script = (
        "import sys; from rocketchaos.harness.jars.artifacts import classpath; "
        "print(*classpath('4.9.40', 'client'));"
        "assert not {'jgo', 'requests', 'rocketchaos.harness.jars.maven'} & set(sys.modules)"
    )
    offline = dict(
        os.environ, ROCKETCHAOS_MAVEN_REPOSITORY="http://127.0.0.1:9", PYTHONPATH=os.pathsep.join(sys.path)
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], env=offline, capture_output=True, text=True, check=True
    ).stdout
    assert printed.split() == [str(jar) for jar in first]


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_jar_that_is_cut_or_gone_is_fetched_again_and_no_other(maven: Maven, damage: str) -> None:
    jars = artifacts.classpath("4.9.40", "client")
    victim = next(jar for jar in jars if jar.name == "library-1.0.jar")
    if damage == "cut":
        os.truncate(victim, 100)
    else:
        victim.unlink()
    assert artifacts.classpath("4.9.40", "client") == jars
    assert victim.read_bytes() == b"y" * 2000
    assert maven.asked["library-1.0.jar"] == 2
    assert maven.asked["exact-2.0.jar"] == 1


@pytest.mark.parametrize("content", ["", "{", '{"schema_version": 1}', '{"schema_version": 99, "files": []}'])
def test_a_broken_index_is_written_anew(maven: Maven, tmp_path: Path, content: str) -> None:
    jars = artifacts.classpath("4.9.40", "client")
    (tmp_path / "cache/maven/rocketchaos/4.9.40-client.json").write_text(content)
    assert artifacts.classpath("4.9.40", "client") == jars


def test_a_damaged_download_is_not_kept(maven: Maven, tmp_path: Path) -> None:
    maven.put("test/library/1.0/library-1.0.jar", b"other", sha1="0" * 40)
    with pytest.raises(EnvironmentNotReady, match=r"damaged file: test/library/1.0/library-1.0.jar"):
        artifacts.classpath("4.9.40", "client")
    assert not list((tmp_path / "cache").rglob("library-1.0.jar"))


def test_a_killed_download_leaves_no_jar(maven: Maven, tmp_path: Path) -> None:
    """The write is one rename, and what is left of a killed one is never taken for a jar."""
    artifacts.classpath("4.9.40", "client")
    shutil.rmtree(tmp_path / "cache")
    script = (
        "import os; from pathlib import Path; from rocketchaos.harness.jars import artifacts;"
        "Path.replace = lambda self, to: os._exit(9) if to.suffix == '.jar' else os.replace(self, to);"
        "artifacts.classpath('4.9.40', 'client')"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    assert subprocess.run([sys.executable, "-c", script], env=environment, check=False).returncode == 9
    assert not list((tmp_path / "cache").rglob("*.jar"))
    assert names(artifacts.classpath("4.9.40", "client")) == EXPECTED


def test_a_mirror_without_checksums_will_do(maven: Maven) -> None:
    maven.failing[".sha1"] = 404
    assert names(artifacts.classpath("4.9.40", "client")) == EXPECTED


@pytest.mark.parametrize("missing", ["exact-2.0.pom", "library-1.0.jar"])
def test_what_the_repository_lacks_is_named_and_no_class_path_is_made_without_it(
    maven: Maven, missing: str
) -> None:
    maven.failing[missing] = 404
    with pytest.raises(EnvironmentNotReady, match=f"there is no test/.*/{missing}"):
        artifacts.classpath("4.9.40", "client")
    maven.failing.clear()
    assert names(artifacts.classpath("4.9.40", "client")) == EXPECTED


def test_an_error_of_the_repository_in_mid_resolution_is_an_error(maven: Maven) -> None:
    maven.failing["exact-2.0.pom"] = 403
    with pytest.raises(EnvironmentNotReady, match="answered HTTP 403"):
        artifacts.classpath("4.9.40", "client")


def test_an_unknown_version_names_the_nearest(maven: Maven) -> None:
    with pytest.raises(UsageProblem, match=r"there is no RocketMQ 4\.9\.8") as raised:
        artifacts.classpath("4.9.8", "client")
    assert raised.value.hint == "The nearest versions: 4.9.4, 4.9.7, 5.0.0, 5.1.0."


def test_where_the_versions_cannot_be_had_the_message_says_so(maven: Maven) -> None:
    maven.failing["maven-metadata.xml"] = 500
    with pytest.raises(UsageProblem, match="could not be found out"):
        artifacts.classpath("4.9.8", "client")


@pytest.mark.parametrize(
    "version", ["latest", "4.9", "v4.9.40", "4.9.40-SNAPSHOT", "4.8.0", "6.0.0", "../4.9.40"]
)
def test_what_is_no_supported_version_is_wrong_usage_without_a_look_at_the_network(
    maven: Maven, version: str
) -> None:
    with pytest.raises(UsageProblem):
        artifacts.classpath(version, "client")
    assert not maven.asked


def test_without_a_network_the_message_names_the_ways_out(
    maven: Maven, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocketchaos.harness.jars import maven as module

    monkeypatch.setattr(module, "_RETRIES", 0)
    monkeypatch.setenv("ROCKETCHAOS_MAVEN_REPOSITORY", "http://user:secret@127.0.0.1:9/maven")
    with pytest.raises(EnvironmentNotReady, match=r"at 127\.0\.0\.1 could not be reached") as raised:
        artifacts.classpath("4.9.40", "client")
    assert "ROCKETCHAOS_MAVEN_REPOSITORY" in raised.value.hint
    assert "ROCKETCHAOS_CACHE" in raised.value.hint
    assert "secret" not in str(raised.value)


def test_a_mirror_that_is_no_url_is_wrong_usage(maven: Maven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETCHAOS_MAVEN_REPOSITORY", "/some/folder")
    with pytest.raises(UsageProblem, match="no http or https URL"):
        artifacts.classpath("4.9.40", "client")


def test_a_full_disk_is_a_message(maven: Maven, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentNotReady, match="No space left on device"):
        artifacts.classpath("4.9.40", "client")


def test_a_cache_that_is_no_folder_is_a_message(
    maven: Maven, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path / "file"))
    with pytest.raises(EnvironmentNotReady, match="the cache folder can't be created"):
        artifacts.classpath("4.9.40", "client")


def test_several_processes_fetch_everything_once(maven: Maven) -> None:
    script = (
        "from rocketchaos.harness.jars.artifacts import classpath; print(len(classpath('4.9.40', 'client')))"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    together = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert [process.communicate(timeout=60)[0].strip() for process in together] == [b"3"] * 3
    assert {maven.asked[name] for name in EXPECTED} == {1}


def test_progress_says_what_takes_time(maven: Maven) -> None:
    said: list[str] = []
    artifacts.classpath("4.9.40", "client", said.append)
    assert said == [
        "resolving the jars of RocketMQ 4.9.40 (client)",
        "downloading 3 jars from the Maven repository at 127.0.0.1",
    ]
    artifacts.classpath("4.9.40", "client", said.append)
    assert len(said) == 2
