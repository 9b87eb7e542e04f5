"""Users' programs for tests: compiled and packed as a user's build does it."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.jars.bundles import Bundle, jars
from rocketchaos.harness.jars.java_compiler import compile_java, compiler_jars
from rocketchaos.harness.jars.java_home import find_java
from tests.embedded.test_documents import blocks

GUIDE = "docs/guides/own-service.md"
WAYWARD = Path(__file__).parent / "Wayward.java"
GRPC_SOURCE = Path(__file__).parent / "Audit.java"
GRPC_JAVA = "org.apache.rocketmq:rocketmq-client-java:5.0.7"
SCRIPT = """\
#!/bin/sh
# Not by `exec`: what it starts is a process of its own.
sleep 600 &
echo "config $(cat "$CONFIG")"
'{java}' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -jar '{jar}' "$@" &
wait $!
"""
"""A service that a user starts by a script."""

RunOwn = Callable[..., tuple[int, dict[str, Any]]]
"""The fixture `run_own`: a folder, a scenario's text and a version -> the exit code that a command would have, and
the run, as `--json` reports it."""


def of_guide(words: str) -> str:
    """The YAML of the guide's one block that has these words."""
    (text,) = [text for text in blocks(GUIDE, "yaml") if words in text]
    return text


def log_of(run: dict[str, Any], consumer: str = "a") -> str:
    """What the consumer's program printed."""
    return (Path(run["run_dir"]) / "logs" / f"{consumer}.log").read_text()


def classes_of(run: dict[str, Any]) -> dict[str, Counter[str]]:
    """How many messages have which class, by group."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for line in (Path(run["run_dir"]) / "messages.jsonl").read_text().splitlines():
        fate = json.loads(line)
        found[fate["group"]][fate["message_class"]] += 1
    return found


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


def built_by_maven(folder: Path) -> None:
    """Build an example as its README says; so short a build is over before what it compiles well would pay."""
    subprocess.run(
        ["mvn", "-q", "-B", "-DskipTests", "package"],
        cwd=folder,
        check=True,
        timeout=600,
        env={**os.environ, "MAVEN_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"},
    )
