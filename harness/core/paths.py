"""Where the harness keeps things outside of a run: the cache, and the state of clusters.

Everything is below one folder, `ROCKETCHAOS_CACHE` or the user's cache folder:
`maven/` RocketMQ's jars, `clients/` the packages of other clients, `hooks/` what is put into brokers,
`log-stores/` what is put into Spark, `archives/`
the class-data archives with which JVMs start faster, `templates/` compiled templates of pages, `clusters/` one
record for each cluster that stays up, `scratch/` the stores and logs of clusters, a folder for each owner (see
`harness.reaper.reaper`).
"""

import os
from pathlib import Path

import platformdirs

from rocketchaos.harness.core.errors import EnvironmentNotReady

CACHE_VARIABLE = "ROCKETCHAOS_CACHE"
"""The environment variable that puts the cache elsewhere."""


def cache_folder() -> Path:
    """The cache folder, made if need be.

    Raises:
        EnvironmentNotReady: it can't be made or written, or no class path can name it.
    """
    configured = os.environ.get(CACHE_VARIABLE)
    # Absolute, because servers run in folders of their own.
    folder = (
        Path(configured).expanduser().absolute()
        if configured
        else platformdirs.user_cache_path("rocketchaos")
    )
    if os.pathsep in str(folder):
        raise EnvironmentNotReady(
            f"the cache folder has a {os.pathsep!r} in its path, which separates the entries of a Java "
            f"class path: {folder}",
            f"Set {CACHE_VARIABLE} to another folder.",
        )
    return _writable(folder)


def maven_folder() -> Path:
    """RocketMQ's jars, laid out as a Maven repository; raises as `cache_folder`.

    Without links: a class-data archive fits the jars at one path alone.
    """
    return _writable(cache_folder() / "maven").resolve()


def clients_folder() -> Path:
    """Packages of clients that aren't Java's, a folder for each kind; raises as `cache_folder`."""
    return _writable(cache_folder() / "clients")


def hooks_folder() -> Path:
    """Compiled hooks for brokers; raises as `cache_folder`."""
    return _writable(cache_folder() / "hooks")


def log_stores_folder() -> Path:
    """Compiled log stores of Delta; raises as `cache_folder`."""
    return _writable(cache_folder() / "log-stores")


def agents_folder() -> Path:
    """What is put into JVMs of users' programs; raises as `cache_folder`."""
    return _writable(cache_folder() / "agents")


def archives_folder() -> Path:
    """Class-data archives, see `harness.jars.class_archive`; raises as `cache_folder`."""
    return _writable(cache_folder() / "archives")


def templates_folder() -> Path:
    """Compiled templates of pages; raises as `cache_folder`."""
    return _writable(cache_folder() / "templates")


def state_folder() -> Path:
    """The records of clusters that stay up; raises as `cache_folder`."""
    return _writable(cache_folder() / "clusters")


def scratch_root() -> Path:
    """The parent of all scratch folders; raises as `cache_folder`."""
    return _writable(cache_folder() / "scratch")


def scratch_folder(owner: str) -> Path:
    """The folder for stores and logs of what this owner starts; raises as `cache_folder`.

    Named after the owner, so that a later run can tell whether anybody still needs it, and whose processes
    are of this cache: every harness that starts processes has one.
    """
    return _writable(scratch_root() / owner)


def _writable(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentNotReady(
            f"the cache folder can't be created: {error.strerror}: {folder}",
            f"Set {CACHE_VARIABLE} to a writable folder.",
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise EnvironmentNotReady(
            f"the cache folder can't be written: {folder}",
            f"Set {CACHE_VARIABLE} to a writable folder.",
        )
    return folder
