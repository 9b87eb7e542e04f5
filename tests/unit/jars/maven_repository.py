"""A Maven repository on loopback, for tests of what is fetched from one."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

GROUP = "org/apache/rocketmq"


class Maven:
    """A Maven repository in a folder, served over loopback, that counts what is asked of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: Counter[str] = Counter()
        self.failing: dict[str, int] = {}
        self.before_answer: Callable[[str], None] = lambda _path: None

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

    def listing(self, name: str, *versions: str) -> None:
        """Its `maven-metadata.xml`, of one of RocketMQ's artifacts."""
        listed = "".join(f"<version>{version}</version>" for version in versions)
        text = f"<metadata><versioning><versions>{listed}</versions></versioning></metadata>"
        self.put(f"{GROUP}/{name}/maven-metadata.xml", text.encode())


def need(name: str, version: str, more: str = "", group: str = "test") -> str:
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version>{more}</dependency>"
    )


@contextmanager
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Maven]:
    """An empty repository that the environment names, beside an empty cache."""
    maven = Maven(tmp_path / "repository")
    maven.folder.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            maven.asked[self.path.rpartition("/")[2]] += 1
            maven.before_answer(self.path)
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
    yield maven
    server.shutdown()
    server.server_close()
