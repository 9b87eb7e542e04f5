"""The packages of clients that aren't Java's, each kind's in a folder of its own in the cache.

Three distributions own the import name `rocketmq`, so that no environment holds two of them. Which ones, in which
versions, is defined only in the extras of our own distribution.
"""

import hashlib
import importlib.metadata
import importlib.util
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import rocketchaos
from rocketchaos.harness.core import paths
from rocketchaos.harness.core.cache_lock import cache_lock
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect

Progress = Callable[[str], None]

DISTRIBUTION = "rocketmq-chaos-harness"
"""Our own."""
_INDEX = "rocketchaos-index.json"
_INDEX_VERSION = 1
_INSTALL_LIMIT_S = 600
_WAY_OUT = (
    "Check the network, or name a mirror with PIP_INDEX_URL (UV_INDEX_URL with uv); scenarios of Java clients run "
    "without it."
)


def packages_folder(extra: str, progress: Progress | None = None) -> Path:
    """The folder that has the packages of one of our extras alone; installed where the cache lacks them.

    It is for the interpreter that runs this, and to be put first on a worker's PYTHONPATH.

    Args:
        extra: of our distribution: `client-python`, `client-grpc`.
        progress: called with a few words before anything that takes time.

    Raises:
        EnvironmentNotReady: they can't be installed, or the cache can't be written.
    """
    wanted = requirements(extra)
    folder = _folder(extra, wanted)
    if _whole(folder):
        return folder
    say = progress or (lambda _text: None)
    with cache_lock(folder.parent, "client packages", say):
        # Another process may have installed them while this one waited.
        if not _whole(folder):
            _install(wanted, folder, say)
    return folder


def installed(extra: str) -> bool:
    """Whether the extra's packages are in the cache, so that no network is needed.

    Raises:
        EnvironmentNotReady: the cache can't be used.
    """
    return _whole(_folder(extra, requirements(extra)))


def requirements(extra: str) -> tuple[str, ...]:
    """What an extra of our distribution asks for, as `rocketmq==0.4.4`."""
    found = _declared(extra)
    if not found:
        raise HarnessDefect(f"{DISTRIBUTION} has no extra `{extra}`")
    return found


def _declared(extra: str) -> tuple[str, ...]:
    # In a source tree its own file counts: what is installed may be of another time, or of another tree.
    project = Path(rocketchaos.__file__).absolute().parent.parent / "pyproject.toml"
    if project.is_file():
        table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        return tuple(table["optional-dependencies"].get(extra, ()))
    from packaging.requirements import Requirement  # slow to load, and Java's clients need none

    found = map(Requirement, importlib.metadata.requires(DISTRIBUTION) or ())
    return tuple(
        f"{item.name}{item.specifier}"
        for item in found
        if item.marker is not None
        and item.marker.evaluate({"extra": extra})
        and not item.marker.evaluate({"extra": ""})
    )


def _folder(extra: str, wanted: Sequence[str]) -> Path:
    """The name contains a hash of all inputs, so a folder that is in use never changes."""
    digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:8]
    return paths.clients_folder() / f"{extra}-{sys.implementation.cache_tag}-{digest}"


def _whole(folder: Path) -> bool:
    """Whether every file that the index names is there in its full size."""
    try:
        content = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
        return content["schema_version"] == _INDEX_VERSION and all(
            (folder / file["path"]).stat().st_size == file["size"] for file in content["files"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _install(wanted: Sequence[str], folder: Path, progress: Progress) -> None:
    names = " and ".join(wanted)
    progress(f"installing {names} into the cache")
    part = folder.with_name(folder.name + ".part")
    try:
        for old in (part, folder):
            if old.exists():
                shutil.rmtree(old)
        _run([*_installer(), "--target", str(part), *wanted], names)
        files = [
            {"path": file.relative_to(part).as_posix(), "size": file.stat().st_size}
            for file in sorted(part.rglob("*"))
            # Python writes those again whenever it likes.
            if file.is_file() and file.suffix != ".pyc"
        ]
        index = json.dumps({"schema_version": _INDEX_VERSION, "files": files}, indent=1)
        (part / _INDEX).write_text(index, encoding="utf-8")
        part.replace(folder)
    except OSError as error:
        raise EnvironmentNotReady(
            f"the cache of client packages can't be used: {error.strerror or error}: {folder.parent}",
            "Free some disk space, or set ROCKETCHAOS_CACHE to a folder elsewhere.",
        ) from error


def _installer() -> list[str]:
    """The command that installs for this interpreter: pip's, or uv's where an environment has no pip."""
    if importlib.util.find_spec("pip") is not None:
        quiet = ["--quiet", "--no-input", "--disable-pip-version-check"]
        return [sys.executable, "-P", "-m", "pip", "install", *quiet]
    uv = shutil.which("uv")
    if uv is None:
        raise EnvironmentNotReady(
            f"client packages can't be installed: {sys.executable} has no pip, and there is no `uv`",
            "`python -m ensurepip` gives it one.",
        )
    return [uv, "pip", "install", "--quiet", "--python", sys.executable]


def _run(command: Sequence[str], names: str) -> None:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_INSTALL_LIMIT_S
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentNotReady(
            f"{names} could not be installed within {_INSTALL_LIMIT_S} s", _WAY_OUT
        ) from error
    if done.returncode != 0:
        raise EnvironmentNotReady(f"{names} can't be installed: {_reason(done)}", _WAY_OUT)


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """The line in which pip or uv names the cause; the last one otherwise."""
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error:")]
    return (errors or lines or [f"exit code {done.returncode}"])[-1]
