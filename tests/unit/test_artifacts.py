from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.cluster import artifacts
from harness.errors import EnvironmentNotReady, UsageProblem

GROUP = "org/apache/rocketmq"


class Maven:
    """A Maven repository in a folder, served over loopback, that counts what is asked of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: Counter[str] = Counter()
        self.failing: dict[str, int] = {}

    def put(self, path: str, content: bytes, *, sha1: str | None = None) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.with_name(file.name + ".sha1").write_text(sha1 or hashlib.sha1(content).hexdigest())

    def artifact(self, group: str, name: str, version: str, needs: str = "", size: int = 2000) -> None:
        base = f"{group}/{name}/{version}/{name}-{version}"
        pom = (
            f"<project><modelVersion>4.0.0</modelVersion><groupId>{group.replace('/', '.')}</groupId>"
            f"<artifactId>{name}</artifactId><version>{version}</version>"
            f"<dependencies>{needs}</dependencies></project>"
        )
        self.put(f"{base}.pom", pom.encode())
        self.put(f"{base}.jar", name[-1:].encode() * size)


def need(name: str, version: str, more: str = "", group: str = "test") -> str:
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version>{more}</dependency>"
    )


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Maven]:
    maven = Maven(tmp_path / "repository")
    maven.folder.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            maven.asked[self.path.rpartition("/")[2]] += 1
            failing = next((code for end, code in maven.failing.items() if self.path.endswith(end)), None)
            if failing is not None:
                self.send_error(failing)
            else:
                super().do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(maven.folder)))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("ROCKETCHAOS_MAVEN_REPOSITORY", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    maven.artifact("test", "library", "1.0")
    maven.artifact("test", "only-for-tests", "1.0")
    maven.artifact("test", "exact", "2.0", need("library", "1.0"))
    needs = need("exact", "[2.0]") + need("only-for-tests", "1.0", "<scope>test</scope>")
    maven.artifact(GROUP, "rocketmq-client", "4.9.4", needs)
    versions = "".join(
        f"<version>{v}</version>" for v in ("4.8.0", "4.9.4", "4.9.7", "5.0.0", "5.1.0", "5.1.0-RC")
    )
    maven.put(
        f"{GROUP}/rocketmq-client/maven-metadata.xml",
        f"<metadata><versioning><versions>{versions}</versions></versioning></metadata>".encode(),
    )
    yield maven
    server.shutdown()
    server.server_close()


def names(jars: tuple[Path, ...]) -> set[str]:
    return {jar.name for jar in jars}


EXPECTED = {"rocketmq-client-4.9.4.jar", "exact-2.0.jar", "library-1.0.jar"}


def test_everything_needed_at_run_time_is_fetched_and_nothing_else(maven: Maven) -> None:
    jars = artifacts.classpath("4.9.4", "client")
    assert names(jars) == EXPECTED
    assert all(jar.stat().st_size == 2000 for jar in jars)


def test_when_everything_is_cached_neither_network_nor_resolver_is_used(maven: Maven) -> None:
    first = artifacts.classpath("4.9.4", "client")
    script = (
        "import sys; from harness.cluster.artifacts import classpath; print(*classpath('4.9.4', 'client'));"
        "assert not {'jgo', 'requests', 'harness.cluster.maven'} & set(sys.modules)"
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
    jars = artifacts.classpath("4.9.4", "client")
    victim = next(jar for jar in jars if jar.name == "library-1.0.jar")
    if damage == "cut":
        os.truncate(victim, 100)
    else:
        victim.unlink()
    assert artifacts.classpath("4.9.4", "client") == jars
    assert victim.read_bytes() == b"y" * 2000
    assert maven.asked["library-1.0.jar"] == 2
    assert maven.asked["exact-2.0.jar"] == 1


@pytest.mark.parametrize("content", ["", "{", '{"schema_version": 1}', '{"schema_version": 99, "files": []}'])
def test_a_broken_index_is_written_anew(maven: Maven, tmp_path: Path, content: str) -> None:
    jars = artifacts.classpath("4.9.4", "client")
    (tmp_path / "cache/maven/rocketchaos/4.9.4-client.json").write_text(content)
    assert artifacts.classpath("4.9.4", "client") == jars


def test_a_damaged_download_is_not_kept(maven: Maven, tmp_path: Path) -> None:
    maven.put("test/library/1.0/library-1.0.jar", b"other", sha1="0" * 40)
    with pytest.raises(EnvironmentNotReady, match=r"damaged file: test/library/1.0/library-1.0.jar"):
        artifacts.classpath("4.9.4", "client")
    assert not list((tmp_path / "cache").rglob("library-1.0.jar"))


def test_a_killed_download_leaves_no_jar(maven: Maven, tmp_path: Path) -> None:
    """The write is one rename, and what is left of a killed one is never taken for a jar."""
    artifacts.classpath("4.9.4", "client")
    shutil.rmtree(tmp_path / "cache")
    script = (
        "import os; from pathlib import Path; from harness.cluster import artifacts;"
        "Path.replace = lambda self, to: os._exit(9) if to.suffix == '.jar' else os.replace(self, to);"
        "artifacts.classpath('4.9.4', 'client')"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    assert subprocess.run([sys.executable, "-c", script], env=environment, check=False).returncode == 9
    assert not list((tmp_path / "cache").rglob("*.jar"))
    assert names(artifacts.classpath("4.9.4", "client")) == EXPECTED


def test_a_mirror_without_checksums_will_do(maven: Maven) -> None:
    maven.failing[".sha1"] = 404
    assert names(artifacts.classpath("4.9.4", "client")) == EXPECTED


@pytest.mark.parametrize("missing", ["exact-2.0.pom", "library-1.0.jar"])
def test_what_the_repository_lacks_is_named_and_no_class_path_is_made_without_it(
    maven: Maven, missing: str
) -> None:
    maven.failing[missing] = 404
    with pytest.raises(EnvironmentNotReady, match=f"there is no test/.*/{missing}"):
        artifacts.classpath("4.9.4", "client")
    maven.failing.clear()
    assert names(artifacts.classpath("4.9.4", "client")) == EXPECTED


def test_an_error_of_the_repository_in_mid_resolution_is_an_error(maven: Maven) -> None:
    maven.failing["exact-2.0.pom"] = 403
    with pytest.raises(EnvironmentNotReady, match="answered HTTP 403"):
        artifacts.classpath("4.9.4", "client")


def test_an_unknown_version_names_the_nearest(maven: Maven) -> None:
    with pytest.raises(UsageProblem, match=r"there is no RocketMQ 4\.9\.8") as raised:
        artifacts.classpath("4.9.8", "client")
    assert raised.value.hint == "The nearest versions: 4.9.4, 4.9.7, 5.0.0, 5.1.0."


def test_where_the_versions_cannot_be_had_the_message_says_so(maven: Maven) -> None:
    maven.failing["maven-metadata.xml"] = 500
    with pytest.raises(UsageProblem, match="could not be found out"):
        artifacts.classpath("4.9.8", "client")


@pytest.mark.parametrize(
    "version", ["latest", "4.9", "v4.9.4", "4.9.4-SNAPSHOT", "4.8.0", "6.0.0", "../4.9.4"]
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
    from harness.cluster import maven as module

    monkeypatch.setattr(module, "_RETRIES", 0)
    monkeypatch.setenv("ROCKETCHAOS_MAVEN_REPOSITORY", "http://user:secret@127.0.0.1:9/maven")
    with pytest.raises(EnvironmentNotReady, match=r"at 127\.0\.0\.1 could not be reached") as raised:
        artifacts.classpath("4.9.4", "client")
    assert "ROCKETCHAOS_MAVEN_REPOSITORY" in raised.value.hint
    assert "ROCKETCHAOS_CACHE" in raised.value.hint
    assert "secret" not in str(raised.value)


def test_a_mirror_that_is_no_url_is_wrong_usage(maven: Maven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETCHAOS_MAVEN_REPOSITORY", "/some/folder")
    with pytest.raises(UsageProblem, match="no http or https URL"):
        artifacts.classpath("4.9.4", "client")


def test_a_full_disk_is_a_message(maven: Maven, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentNotReady, match="No space left on device"):
        artifacts.classpath("4.9.4", "client")


def test_a_cache_that_is_no_folder_is_a_message(
    maven: Maven, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ROCKETCHAOS_CACHE", str(tmp_path / "file"))
    with pytest.raises(EnvironmentNotReady, match="the cache folder can't be made"):
        artifacts.classpath("4.9.4", "client")


def test_several_processes_fetch_everything_once(maven: Maven) -> None:
    script = "from harness.cluster.artifacts import classpath; print(len(classpath('4.9.4', 'client')))"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    together = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert [process.communicate(timeout=60)[0].strip() for process in together] == [b"3"] * 3
    assert {maven.asked[name] for name in EXPECTED} == {1}


def test_progress_says_what_takes_time(maven: Maven) -> None:
    said: list[str] = []
    artifacts.classpath("4.9.4", "client", said.append)
    assert said == [
        "resolving the jars of RocketMQ 4.9.4 (client)",
        "downloading 3 jars from the Maven repository at 127.0.0.1",
    ]
    artifacts.classpath("4.9.4", "client", said.append)
    assert len(said) == 2
