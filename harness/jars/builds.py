"""Builds of one's own: an unpacked RocketMQ distribution, used wherever a released version is.

A build goes by its name, `5.5.1-SNAPSHOT+ab12cd34`: the version of its jars, and the beginning of their digest.
Whatever takes a version takes that name too, once the build has been opened here.
"""

import functools
import hashlib
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.rocketmq import versions

_NEEDED = ("broker", "client", "common", "namesrv", "remoting", "store", "tools")
_MODULES = {*_NEEDED, "acl", "auth", "container", "controller", "filter", "proxy", "srvutil", "tiered-store"}
"""Of RocketMQ, all of one version; others, as `rocketmq-proto`, have versions of their own."""
_WITHOUT: Mapping[str, frozenset[str]] = {
    "client": frozenset({"broker", "container", "controller", "namesrv", "proxy", "tools"}),
    "tools": frozenset({"broker", "container", "controller", "namesrv", "proxy"}),
    "server": frozenset({"proxy"}),
    "all-servers": frozenset(),
}
"""The jars that each role leaves out. A module brings its log configuration, and the first on the class path
wins."""
_NAME = re.compile(r"rocketmq-([a-z]+(?:-[a-z]+)*)-(\d.*)\.jar")
_WAY = (
    "Give the folder of an unpacked distribution, with all jars in its `lib`: `mvn -Prelease-all` makes one in "
    "distribution/target/rocketmq-X/rocketmq-X."
)


@dataclass(frozen=True, slots=True)
class Build:
    """An unpacked distribution, as it was when it was opened."""

    folder: Path
    version: str
    """As its jars have it: `5.5.1-SNAPSHOT`."""
    digest: str
    """SHA-256 of the names and contents of all its jars, hexadecimal."""
    jars: tuple[Path, ...]
    """Of its `lib`, by name."""

    @property
    def name(self) -> str:
        """Its name in places where others have a version."""
        return f"{self.version}+{self.digest[:8]}"

    @property
    def has_proxy(self) -> bool:
        """Whether it has a proxy."""
        return any(_module(jar) == "proxy" for jar in self.jars)

    def classpath(self, role: str) -> tuple[Path, ...]:
        """The jars of a role, see `harness.jars.artifacts`."""
        return tuple(jar for jar in self.jars if _module(jar) not in _WITHOUT[role])

    def as_json(self) -> dict[str, Any]:
        """For a run's record."""
        return {
            "folder": str(self.folder),
            "version": self.version,
            "sha256": self.digest,
            "jars": len(self.jars),
        }


_OPENED: dict[str, Build] = {}


def version_of(text: str, base: Path | None = None) -> str:
    """What a user named: a released version unchanged, or the name of the build in this folder.

    Args:
        text: `5.5.0`, or the path of an unpacked distribution.
        base: the folder from which a relative path goes; None: the current one.

    Raises:
        UsageProblem: neither a version, supported or not, nor a whole build.
    """
    if not names_a_folder(text, base):
        versions.numbers(text)
        if versions.is_build(text):
            named(text)
        return text
    return open_build((base or Path()) / Path(text).expanduser()).name


def names_a_folder(text: str, base: Path | None = None) -> bool:
    """Whether a user who writes this means a folder, there or not, rather than a version."""
    return os.sep in text or text.startswith((".", "~")) or ((base or Path()) / text).is_dir()


def open_build(folder: Path) -> Build:
    """Read a build, and let its name stand for it from now on.

    Raises:
        UsageProblem: there is no whole build of one supported version in the folder.
    """
    build = _read(folder.absolute())
    _OPENED[build.name] = build
    return build


def named(name: str) -> Build:
    """The build of this name.

    Raises:
        UsageProblem: none of this name was opened.
    """
    if name not in _OPENED:
        raise UsageProblem(
            f"the build {name} is not known by its name alone", "Give its folder: `--rocketmq DIR`."
        )
    return _OPENED[name]


def as_given(version: str) -> str:
    """What a user gives for it: a release as it is, of a build its folder."""
    return str(named(version).folder) if versions.is_build(version) else version


def open_recorded(record: Mapping[str, Any]) -> None:
    """Open the builds of a run again, by its `run.json`.

    Raises:
        UsageProblem: one of them isn't there any more, or is another one now.
    """
    for name, text in (record.get("builds") or {}).items():
        found = open_build(Path(text["folder"]))
        if found.name != name:
            raise UsageProblem(
                f"the run was of the build {name}, and {found.folder} has {found.name} now",
                f"Give what to run on: `--rocketmq {found.folder}`, or a release.",
            )


@functools.lru_cache(maxsize=64)
def _read(folder: Path) -> Build:
    lib = folder / "lib"
    if not lib.is_dir():
        raise UsageProblem(_no_build(folder), _WAY)
    jars = tuple(sorted(lib.glob("*.jar")))
    found = {module: jar for jar in jars if (module := _module(jar)) is not None}
    for module in _NEEDED:
        if module not in found:
            raise UsageProblem(f"{lib} has no rocketmq-{module} jar", _WAY)
    if os.pathsep in str(lib):
        raise UsageProblem(f"no Java class path can name {lib}: it has a {os.pathsep!r}", "Move the build.")
    of_modules: dict[str, list[str]] = {}
    for jar in jars:
        if _module(jar) is not None:
            of_modules.setdefault(_version(jar), []).append(jar.name)
    if len(of_modules) > 1:
        text = "; ".join(
            f"{version}: {', '.join(names[:3])}" for version, names in sorted(of_modules.items())
        )
        raise UsageProblem(f"{lib} mixes versions of RocketMQ: {text}", "Keep the jars of one build.")
    (version,) = of_modules
    digest = _digest(jars)
    versions.parse(f"{version}+{digest[:8]}")
    return Build(folder, version, digest, jars)


def _no_build(folder: Path) -> str:
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "doesn't exist"
        return f"no RocketMQ version, and no build: {folder} {what}"
    inside = [lib.parent.name for lib in sorted(folder.glob("*/lib"))]
    return f"{folder} is no build of RocketMQ: it has no folder `lib`" + (
        f"; {inside[0]} in it has" if inside else ""
    )


def _module(jar: Path) -> str | None:
    """The module of RocketMQ that a jar is, by its name: `broker`."""
    found = _NAME.fullmatch(jar.name)
    return found[1] if found is not None and found[1] in _MODULES else None


def _version(jar: Path) -> str:
    """Of a module, as Maven wrote it into the jar, or else by its name."""
    try:
        with zipfile.ZipFile(jar) as content:
            entry = f"META-INF/maven/org.apache.rocketmq/rocketmq-{_module(jar)}/pom.properties"
            text = content.read(entry).decode("utf-8", "replace") if entry in content.namelist() else ""
    except (OSError, zipfile.BadZipFile) as error:
        raise _unreadable(jar, error) from error
    own = next((line[8:].strip() for line in text.splitlines() if line.startswith("version=")), "")
    by_name = _NAME.fullmatch(jar.name)
    return own or (by_name[2] if by_name else "")


def _digest(jars: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for jar in jars:
        try:
            with jar.open("rb") as content:
                own = hashlib.file_digest(content, "sha256").hexdigest()
            if not zipfile.is_zipfile(jar):
                raise zipfile.BadZipFile("it is no zip file")
        except (OSError, zipfile.BadZipFile) as error:
            raise _unreadable(jar, error) from error
        digest.update(f"{jar.name} {own}\n".encode())
    return digest.hexdigest()


def _unreadable(jar: Path, error: Exception) -> UsageProblem:
    reason = getattr(error, "strerror", None) or str(error)
    return UsageProblem(f"the jar can't be read: {jar}: {reason}", "Unpack or build the distribution again.")
