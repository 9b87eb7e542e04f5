"""Builds the container images that are missing or whose inputs have changed: `make images`.

For each image: where the engine has the official one, or it can be pulled, nothing is built. Otherwise it is
built from `debian:bookworm-slim`, or, where no image registry is reachable, from a base that `base.sh` makes.
A label on each image has a hash of what it was built from.

This folder must never get an `__init__.py`: it would hide the package `docker`.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from docker.errors import APIError, BuildError, ImageNotFound
from docker.models.images import Image

from rocketchaos.harness.containers.container_engine import Engine, connect, refusals
from rocketchaos.harness.containers.images import NAMES, Kind, NotPulled, pull
from rocketchaos.harness.core.configuration import PLACEHOLDER
from rocketchaos.harness.core.errors import EnvironmentNotReady, RocketchaosError, UsageProblem
from rocketchaos.harness.jars.artifacts import classpath

VERSIONS = ("4.9.4", "5.5.0")
"""Of RocketMQ, where none are asked for."""
INPUTS_LABEL = "rocketchaos.inputs"
BASE = "debian:bookworm-slim"
OWN_BASE = "rocketchaos/base:bookworm"

_HERE = Path(__file__).resolve().parent
_CONSTRAINTS = _HERE.parent / "constraints.txt"
_BUILD = _HERE.parent / "build"
_PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""Those of a worker image's base for which it gets wheels."""
_TOXIPROXY = "2.12.0"
_TOXIPROXY_MODULE = "github.com/Shopify/toxiproxy/v2"
_GO_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_PROGRAM_LIMIT_S = 600
_BASE_LIMIT_S = 1200

Files = Mapping[str, Path]
"""By their path in a build context."""


@dataclass(frozen=True)
class Recipe:
    """An image, and what it is built from."""

    kind: Kind
    version: str
    """Of RocketMQ or the dashboard; empty: of neither."""
    files: Files
    facts: tuple[str, ...] = ()
    """Everything that decides on the result, in addition to the files."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Of the Dockerfile."""
    prepare: Callable[[Path, str], Files] | None = None
    """Makes more files, in a folder, for an architecture (`x86_64`); called only where it is built."""
    has_base: bool = True
    optional: bool = False
    """The harness does without; where it can't be built, that is said, and no more."""

    @property
    def name(self) -> str:
        """Its name."""
        return NAMES[self.kind].built.replace(PLACEHOLDER, self.version)

    @property
    def official(self) -> str | None:
        """The official image instead of which it is built."""
        official = NAMES[self.kind].official
        return None if official is None else official.replace(PLACEHOLDER, self.version)

    @functools.cached_property
    def inputs(self) -> str:
        """A hash of all that it is built from."""
        return hash_of(
            self.files, (*self.facts, *(f"{key}={value}" for key, value in self.arguments.items()))
        )


def hash_of(files: Files, facts: Iterable[str]) -> str:
    """A hash of the files' contents, names and modes, and of the facts."""
    digest = hashlib.sha256()
    for fact in facts:
        digest.update(f"{fact}\0".encode())
    for name, path in sorted(files.items()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{name}\0{os.access(path, os.X_OK)}\0{content}\0".encode())
    return digest.hexdigest()


def recipes(versions: Iterable[str], dashboards: Mapping[str, Path]) -> Iterator[Recipe]:
    """All images; raises as `classpath`."""
    for version in versions:
        jars = {f"lib/{jar.name}": jar for jar in classpath(version, "all-servers", say)}
        yield Recipe("rocketmq", version, {**_folder("rocketmq"), **jars}, arguments={"VERSION": version})
    yield Recipe(
        "worker",
        "",
        _folder("worker"),
        facts=(*_pins("jpype1", "psutil", "packaging"), *_PYTHONS),
        prepare=_wheels,
    )
    yield Recipe(
        "toxiproxy",
        "",
        _folder("toxiproxy"),
        facts=(_TOXIPROXY,),
        prepare=_toxiproxy,
        has_base=False,
        optional=True,
    )
    for version, jar in dashboards.items():
        yield Recipe("dashboard", version, {**_folder("dashboard"), "rocketmq-dashboard.jar": jar})


def _folder(name: str) -> dict[str, Path]:
    root = _HERE / name
    return {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}


def _pins(*packages: str) -> list[str]:
    """The lines of constraints.txt about these packages."""
    lines = _CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.partition("==")[0].lower() in packages]


def _wheels(folder: Path, architecture: str) -> Files:
    """JPype and psutil, as the harness itself has them."""
    for python in _PYTHONS:
        _run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
            + ["--dest", str(folder), "--only-binary", ":all:", "--python-version", python]
            + [f"--platform=manylinux_2_{glibc}_{architecture}" for glibc in (28, 17)]
            + ["--constraint", str(_CONSTRAINTS), "JPype1", "psutil"],
            "JPype and psutil can't be fetched",
        )
    return {f"wheels/{wheel.name}": wheel for wheel in folder.iterdir()}


def _toxiproxy(folder: Path, architecture: str) -> Files:
    """The program, which needs no library: its image has nothing else."""
    go = shutil.which("go")
    if go is None:
        raise EnvironmentNotReady("Go is not here, which builds Toxiproxy", "Install Go 1.23 or newer.")
    program = folder / "toxiproxy"
    # `go install` would put it where it likes, so there is a module of its own.
    (folder / "go.mod").write_text("module build\n\ngo 1.23\n", encoding="utf-8")
    environment = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOOS": "linux",
        "GOARCH": _GO_ARCHITECTURES.get(architecture, architecture),
        "GOFLAGS": "-mod=mod",
    }
    what = "Toxiproxy can't be built"
    _run([go, "get", f"{_TOXIPROXY_MODULE}@v{_TOXIPROXY}"], what, folder, environment)
    flags = f"-s -w -X {_TOXIPROXY_MODULE}.Version={_TOXIPROXY}"
    command = [
        go,
        "build",
        "-trimpath",
        "-ldflags",
        flags,
        "-o",
        str(program),
        f"{_TOXIPROXY_MODULE}/cmd/server",
    ]
    _run(command, what, folder, environment)
    return {"toxiproxy": program}


def _run(
    command: list[str], what: str, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> None:
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            env=None if environment is None else dict(environment),
            capture_output=True,
            text=True,
            timeout=_PROGRAM_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentNotReady(f"{what}: it took over {_PROGRAM_LIMIT_S} s", "Try again.") from error
    if ended.returncode:
        last = (ended.stderr.strip() or ended.stdout.strip()).splitlines()[-3:]
        raise EnvironmentNotReady(f"{what}: {' / '.join(last)}", "Try again where the network allows it.")


class Builder:
    """Builds what an engine lacks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._unreachable: set[str] = set()

    def make(self, recipe: Recipe) -> None:
        """See to it that there is the image, or the official one instead.

        Raises:
            EnvironmentNotReady: it can't be built.
        """
        old = self._find(recipe.name)
        if recipe.official is not None and self._find(recipe.official) is not None:
            say(f"{recipe.official}: there")
        elif old is not None and old.labels.get(INPUTS_LABEL) == recipe.inputs:
            say(f"{recipe.name}: up to date")
        elif old is None and recipe.official is not None and self._pulled(recipe.official):
            say(f"{recipe.official}: pulled")
        else:
            say(f"{recipe.name}: building")
            self._build(recipe)
            self._remove(old)

    def _find(self, name: str) -> Image | None:
        """An image; None where there is none of that name."""
        with refusals(f"the image {name} can't be looked up"):
            try:
                return self._engine.client.images.get(name)
            except ImageNotFound:
                return None

    def _remove(self, image: Image | None) -> None:
        """Remove one that lost its name to a newer one, unless a container runs from it."""
        if image is not None and INPUTS_LABEL in image.labels:
            with contextlib.suppress(APIError):
                image.remove()

    def _pulled(self, name: str) -> bool:
        registry = name.split("/")[0] if "." in name.split("/")[0] else ""
        if registry in self._unreachable:
            return False
        try:
            pull(self._engine, name, say)
        except NotPulled as error:
            say(f"{name}: not available: {error}")
            if not error.unknown_image:
                self._unreachable.add(registry)
            return False
        return True

    @functools.cached_property
    def _architecture(self) -> str:
        return str(self._engine.client.info()["Architecture"])

    @functools.cached_property
    def _base(self) -> str:
        """The inputs of images."""
        if self._find(BASE) is not None or self._pulled(BASE):
            return BASE
        script = _HERE / "base.sh"
        inputs = hash_of({script.name: script}, ())
        old = self._find(OWN_BASE)
        if old is None or old.labels.get(INPUTS_LABEL) != inputs:
            say(f"{OWN_BASE}: making it with debootstrap (about a minute)")
            try:
                ended = subprocess.run(
                    [str(script), f"{INPUTS_LABEL}={inputs}"], timeout=_BASE_LIMIT_S, check=False
                )
            except subprocess.TimeoutExpired as error:
                raise EnvironmentNotReady(
                    f"debootstrap took over {_BASE_LIMIT_S} s", "MIRROR=URL names another Debian mirror."
                ) from error
            if ended.returncode:
                raise EnvironmentNotReady(
                    f"no image can be built: neither {BASE} nor {OWN_BASE} is available",
                    "See above what was missing.",
                )
        return OWN_BASE

    def _build(self, recipe: Recipe) -> None:
        arguments = dict(recipe.arguments)
        if recipe.has_base:
            arguments["BASE"] = self._base
        _BUILD.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_BUILD) as folder:
            more = recipe.prepare(Path(folder), self._architecture) if recipe.prepare else {}
            with tempfile.TemporaryFile(dir=folder) as context:
                _write_context(context, {**recipe.files, **more})
                self._build_context(recipe, arguments, context)

    def _build_context(self, recipe: Recipe, arguments: Mapping[str, str], context: IO[bytes]) -> None:
        # Through the API: it needs neither the program `docker` nor buildx.
        with refusals(f"{recipe.name} can't be built"):
            try:
                self._engine.client.images.build(
                    fileobj=context,
                    custom_context=True,
                    tag=recipe.name,
                    buildargs=dict(arguments),
                    labels={INPUTS_LABEL: recipe.inputs},
                    rm=True,
                    forcerm=True,
                )
            except BuildError as error:
                said = "".join(str(line.get("stream", "")) for line in error.build_log).splitlines()
                raise EnvironmentNotReady(
                    "\n  ".join([f"{recipe.name} can't be built: {error.msg}", *said[-15:]]),
                    "Without a network, build from an image that has all that the Dockerfile installs.",
                ) from error


def _write_context(target: IO[bytes], files: Files) -> None:
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, path in sorted(files.items()):
            archive.add(path, arcname=name)
    target.seek(0)


def say(text: str) -> None:
    """One line of progress."""
    print(text, file=sys.stderr, flush=True)


def _dashboard(text: str) -> tuple[str, Path]:
    version, _, jar = text.partition("=")
    if not Path(jar).is_file():
        raise UsageProblem(
            f"there is no jar of a dashboard: {jar!r}", "Give VERSION=FILE: 1.0.0=dashboard.jar."
        )
    return version, Path(jar)


def main(arguments: list[str]) -> int:
    """Build what is missing; 0, or the exit code of what went wrong."""
    parser = argparse.ArgumentParser(prog="build_images.py", description=__doc__)
    parser.add_argument("versions", nargs="*", default=list(VERSIONS), help="of RocketMQ")
    parser.add_argument("--dashboard", action="append", default=[], metavar="VERSION=JAR")
    given = parser.parse_args(arguments)
    try:
        builder = Builder(connect())
        for recipe in recipes(given.versions, dict(map(_dashboard, given.dashboard))):
            try:
                builder.make(recipe)
            except EnvironmentNotReady as problem:
                if not recipe.optional:
                    raise
                say(f"{recipe.name}: left out: {problem.message}")
    except RocketchaosError as problem:
        say(str(problem))
        return int(problem.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
