"""Users' programs for tests: compiled and packed as a user's build does it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.jars.bundles import Bundle, jars
from rocketchaos.harness.jars.java_compiler import compile_java, compiler_jars
from rocketchaos.harness.jars.java_home import find_java
from tests.embedded.command import Ended, rocketchaos
from tests.embedded.test_documents import blocks

GUIDE = "docs/guides/own-service.md"
GRPC_SOURCE = Path(__file__).parent / "Audit.java"
GRPC_JAVA = "org.apache.rocketmq:rocketmq-client-java:5.0.7"


def of_guide(words: str) -> str:
    """The YAML of the guide's one block that has these words."""
    (text,) = [text for text in blocks(GUIDE, "yaml") if words in text]
    return text


def run_own(folder: Path, text: str, version: str) -> tuple[Ended, dict[str, Any]]:
    """Run this scenario in the folder: the command, and the run as `--json` reports it."""
    (folder / "own.scenario.yaml").write_text(text)
    ended = rocketchaos("run", "own.scenario.yaml", "--rocketmq", version, "--json", cwd=folder, limit_s=280)
    assert ended.out, ended.err
    return ended, ended.document["runs"][0]


def log_of(run: dict[str, Any]) -> str:
    """What the program of the consumer `a` printed."""
    return (Path(run["run_dir"]) / "logs" / "a.log").read_text()


def events_of(run: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """What the run's events of this kind say."""
    text = (Path(run["run_dir"]) / "events.jsonl").read_text()
    events = [json.loads(line) for line in text.splitlines()]
    return [event["data"] for event in events if event["kind"] == kind]


def jar_of(sources: Sequence[Path], main: str, target: Path, client: str = "4.9.4") -> Path:
    """A plain jar with a Main-Class, and with RocketMQ's client of this version on its class path."""
    libraries = classpath(client, "client")
    classes = target.with_suffix(".classes")
    compile_java(sources, find_java(), compiler_jars(print), libraries, classes)
    with zipfile.ZipFile(target, "w") as content:
        content.writestr("META-INF/MANIFEST.MF", _manifest(main, libraries))
        for file in sorted(classes.rglob("*.class")):
            content.write(file, file.relative_to(classes))
    return target


def _manifest(main: str, libraries: Sequence[Path]) -> str:
    path = f"Class-Path: {' '.join(library.as_uri() for library in libraries)}"
    # A line has 72 bytes at most, and goes on after a blank.
    lines = [path[:70], *(f" {path[i : i + 69]}" for i in range(70, len(path), 69))]
    return "\r\n".join(["Manifest-Version: 1.0", f"Main-Class: {main}", *lines, "", ""])


def grpc_program(folder: Path) -> tuple[str, list[Path]]:
    """The service with RocketMQ's gRPC client for Java: its main class, and its class path."""
    found = jars(Bundle("tests-grpc-java", "the gRPC client for Java", [GRPC_JAVA]), print)
    compile_java([GRPC_SOURCE], find_java(), compiler_jars(print), found, folder)
    return GRPC_SOURCE.stem, [folder, *found]


def relocated(jar: Path, target: Path) -> Path:
    """The same program as one jar, with RocketMQ's classes in other packages, as a build relocates (shades) them.

    The new name is as long as the old one, so that the class files stay whole.
    """
    contents: dict[str, bytes] = {}
    for source in (*classpath("4.9.4", "client"), jar):
        with zipfile.ZipFile(source) as archive:
            contents |= {item: archive.read(item) for item in archive.namelist() if item.endswith(".class")}
    manifest = "Manifest-Version: 1.0\r\nMain-Class: TwoWays\r\n\r\n"
    with zipfile.ZipFile(target, "w") as content:
        content.writestr("META-INF/MANIFEST.MF", manifest)
        for name, data in contents.items():
            moved = data.replace(b"org/apache/rocketmq", b"com/shaded/rocketmq")
            moved = moved.replace(b"org.apache.rocketmq", b"com.shaded.rocketmq")
            content.writestr(name.replace("org/apache/rocketmq", "com/shaded/rocketmq"), moved)
    return target
