"""The container engine (Docker, or what speaks its API), and its refusals in the user's words."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed
from testcontainers.core.config import testcontainers_config
from testcontainers.core.docker_client import DockerClient

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.reaper.reaper_process import engine_client

# Our reaper removes what is left behind: at once, and also if the reaper's image isn't available.
testcontainers_config.ryuk_disabled = True

_IN_VM = "ROCKETCHAOS_ENGINE_IN_VM"
_DOCKER_DESKTOP = "Docker Desktop"
_ROOTLESS = "name=rootless"
_BUSY = "unable to freeze"
"""How runc refuses a pause if processes were starting threads all the time that it tried (cgroup v1)."""
_FREEZE_LIMIT_S = 20
_START = "Start it (`sudo systemctl start docker`, or Docker Desktop), or leave out `--on containers`."


@dataclass(frozen=True)
class Engine:
    """An engine that answers; see `connect`."""

    client: docker.DockerClient

    @cached_property
    def in_vm(self) -> bool:
        """It runs in a machine of its own (Docker Desktop): this host can't reach its containers' addresses.

        ROCKETCHAOS_ENGINE_IN_VM=1 declares it if it isn't recognised, 0 denies it if it is recognised
        wrongly.
        """
        said = os.environ.get(_IN_VM)
        return said != "0" if said else sys.platform != "linux" or self._is_docker_desktop

    @property
    def user(self) -> str:
        """As whom a container writes files of this user's, `uid:gid`.

        To a rootless engine this user is root, as seen from inside its containers; so it is to Docker Desktop for
        Linux (its FAQ on file sharing). In WSL, and to any other engine, users are the same inside and outside.
        """
        rootless = any(
            str(option).startswith(_ROOTLESS) for option in self._info.get("SecurityOptions") or []
        )
        shared = self._is_docker_desktop and "microsoft" not in str(self._info.get("KernelVersion"))
        return "0:0" if rootless or shared else f"{os.getuid()}:{os.getgid()}"

    @property
    def _is_docker_desktop(self) -> bool:
        return _DOCKER_DESKTOP in str(self._info.get("OperatingSystem"))

    @cached_property
    def _info(self) -> Mapping[str, Any]:
        info: Mapping[str, Any] = self.client.info()
        return info

    @cached_property
    def base_url(self) -> str:
        """Where it is, for whoever connects again: `unix:///var/run/docker.sock`, `tcp://host:port`."""
        url = str(self.client.api.base_url)
        # docker-py keeps the path of a Unix socket to itself, behind an adapter.
        path = getattr(self.client.api.get_adapter(url), "socket_path", None)
        return url if path is None else f"unix://{path}"

    @cached_property
    def description(self) -> str:
        """`Docker 28.2.2 (API 1.50)`."""
        version = self.client.version()
        return f"Docker {version.get('Version')} (API {version.get('ApiVersion')})"


def connect(base_url: str | None = None) -> Engine:
    """The engine at this address; without one, that of the environment (`DOCKER_HOST`) or of this machine.

    Raises:
        EnvironmentNotReady: none runs, or it refuses this user; each with the way out.
    """
    try:
        client = DockerClient().client if base_url is None else engine_client(base_url)
        client.ping()
    except (DockerException, requests.RequestException, OSError) as error:
        raise _not_there(error) from error
    return Engine(client)


def _not_there(error: Exception) -> EnvironmentNotReady:
    chain = list(_causes(error))
    if any(isinstance(cause, PermissionError) for cause in chain):
        return EnvironmentNotReady(
            "the container engine doesn't let this user in: permission denied",
            "Add the user to the group `docker` (`sudo usermod -aG docker $USER`, then log in again), or run "
            "a rootless engine and set DOCKER_HOST.",
        )
    if any(isinstance(cause, FileNotFoundError | ConnectionRefusedError) for cause in chain):
        return EnvironmentNotReady("no container engine runs here", _START)
    return EnvironmentNotReady(f"the container engine doesn't answer: {_words(error)}", _START)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    pending = [error]
    while pending:
        item = pending.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        # requests and urllib3 put the reason into their arguments instead of chaining it.
        pending += [item.__cause__, item.__context__]
        pending += [argument for argument in item.args if isinstance(argument, BaseException)]
        pending.append(
            getattr(item, "reason", None)
            if isinstance(getattr(item, "reason", None), BaseException)
            else None
        )


def _words(error: BaseException) -> str:
    explanation = getattr(error, "explanation", None)
    return str(explanation or error).strip().splitlines()[0][:300]


@contextlib.contextmanager
def refusals(what: str) -> Iterator[None]:
    """Turn what the engine refuses into an `EnvironmentNotReady` that says what could not be done.

    Raises:
        EnvironmentNotReady: see there; `NotFound` is passed on, for those who know what it means to them.
    """
    try:
        yield
    except ImageNotFound as error:
        raise EnvironmentNotReady(
            f"{what}: {_words(error)}", "Build it with `make images`, or pull it."
        ) from error
    except NotFound:
        raise
    except APIError as error:
        raise EnvironmentNotReady(f"{what}: {_words(error)}", "See the engine's own log.") from error
    except (DockerException, requests.RequestException) as error:
        raise EnvironmentNotReady(
            f"{what}: the container engine doesn't answer: {_words(error)}", _START
        ) from error


def until_frozen(do: Callable[[], None]) -> None:
    """Pause a container; again, for up to 20 s, as long as it is too busy for that. Raises as `do`."""
    retrying = Retrying(
        retry=retry_if_exception(lambda error: isinstance(error, APIError) and _BUSY in str(error)),
        wait=wait_fixed(0.1),
        stop=stop_after_delay(_FREEZE_LIMIT_S),
        reraise=True,
    )
    retrying(do)
