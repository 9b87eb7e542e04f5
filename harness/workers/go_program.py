"""The Go worker: built with the user's own Go toolchain, once for each version of that, of our source, and of the
client."""

import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from packaging.version import Version

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.cache_lock import cache_lock
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.workers.own_program import OwnProgram, Progress

SOURCE = Path(__file__).absolute().parent / "go"
"""The module's folder: `go.mod`, `go.sum` and the program."""
BINARY = "rocketchaos-go-worker"
MODULE = "github.com/apache/rocketmq-client-go/v2"
_SOURCES = ("*.go", "go.mod", "go.sum")
_CHANGED = ("2.1.0", "2.1.2")
"""The versions of the client before which our source differs: files with the tag `before_2_1_2`."""
_BUILD_LIMIT_S = 600
_VERSION_LIMIT_S = 30
_WAY_OUT = "scenarios of other clients run without it."


def go_program(version: str, progress: Progress | None = None) -> OwnProgram:
    """The program for this machine, built where the cache lacks it.

    Args:
        version: of the client: `2.1.2`.
        progress: called with a few words before anything that takes time.

    Raises:
        EnvironmentNotReady: there is no Go toolchain, the modules aren't available, or the cache can't be
        written.
    """
    go = toolchain()
    folder = _folder(_version(go), version)
    binary = folder / BINARY
    if not binary.is_file():
        say = progress or (lambda _text: None)
        with cache_lock(folder.parent, "client packages", say):
            # Another process may have built it while this one waited.
            if not binary.is_file():
                _build(go, version, binary, say)
    return OwnProgram((str(binary),), folder)


def toolchain() -> str:
    """The user's `go`.

    Raises:
        EnvironmentNotReady: there is none.
    """
    found = shutil.which("go")
    if found is None:
        raise EnvironmentNotReady(
            "the Go client needs a Go toolchain, and there is no `go` on the PATH",
            f"Install Go 1.18 or newer (Debian and Ubuntu: `apt install golang-go`, or go.dev/dl); {_WAY_OUT}",
        )
    return found


@functools.cache
def _version(go: str) -> str:
    """The output of `go version`: version and platform."""
    try:
        done = subprocess.run(
            [go, "version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_VERSION_LIMIT_S,
            env=_environment(os.environ),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentNotReady(f"the Go toolchain doesn't work: {error}: {go}") from error
    if done.returncode != 0:
        raise EnvironmentNotReady(f"the Go toolchain doesn't work: {_last_line(done.stderr)}: {go}")
    return done.stdout.strip()


def _folder(toolchain_version: str, client: str) -> Path:
    """Named after all that decides on the program: one that is in use is never changed."""
    digest = hashlib.sha256(f"{toolchain_version}\0{client}".encode())
    for file in sorted(file for pattern in _SOURCES for file in SOURCE.glob(pattern)):
        digest.update(b"\0%s\0%s" % (file.name.encode(), file.read_bytes()))
    return paths.clients_folder() / f"go-{digest.hexdigest()[:12]}"


def _build(go: str, version: str, binary: Path, progress: Progress) -> None:
    progress(f"building the Go client {version} with your Go toolchain, once")
    part = binary.with_suffix(f".{os.getpid()}.part")
    try:
        binary.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [
                *(go, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-mod=mod"),
                f"-modfile={_module_file(binary.parent, version)}",
                f"-tags={','.join(_tags(version))}",
                *("-o", str(part), "."),
            ],
            cwd=SOURCE,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_BUILD_LIMIT_S,
            env=_environment(os.environ),
        )
        if done.returncode != 0:
            raise EnvironmentNotReady(
                f"the Go client can't be built: {_last_line(done.stderr)}",
                f"Check the network and Go's settings (`go env GOPROXY GOFLAGS`); {_WAY_OUT}",
            )
        part.replace(binary)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentNotReady(
            f"the Go client could not be built within {_BUILD_LIMIT_S} s", f"Check the network; {_WAY_OUT}"
        ) from error
    except OSError as error:
        raise EnvironmentNotReady(
            f"the cache of client packages can't be used: {error.strerror or error}: {binary.parent}",
            "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _module_file(folder: Path, version: str) -> Path:
    """Our `go.mod` with this version of the client, and `go.sum`, which has all versions: Go may change both."""
    file = folder / "go.mod"
    text = (SOURCE / "go.mod").read_text(encoding="utf-8")
    file.write_text(re.sub(rf"{MODULE} v\S+", f"{MODULE} v{version}", text), encoding="utf-8")
    shutil.copyfile(SOURCE / "go.sum", folder / "go.sum")
    return file


def _tags(version: str) -> list[str]:
    return [f"before_{name.replace('.', '_')}" for name in _CHANGED if Version(version) < Version(name)]


def _environment(inherited: Mapping[str, str]) -> dict[str, str]:
    # A static program runs in the worker's image too; a workspace of the user's is none of our module's.
    return {**inherited, "CGO_ENABLED": "0", "GOWORK": "off"}


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it says nothing"
