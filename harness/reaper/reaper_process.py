"""The reaper: a small process that outlives the harness, and ends what the harness left running.

Run as a program (`python -P process.py`) by `harness.reaper.reaper`, with a pipe as its standard input
whose other end only the harness holds. Each line there is a JSON object: `{"token": T}` and `{"forget": T}`
say which owner's processes and containers are its charge, `{"own": [PID, CREATED]}` one more process,
`{"engine": URL}` a container engine in which its owners make things, `{"remove": PATH}` a folder, and
`{"release": true}` that the harness ended well. At the end of the pipe without a release, whatever the reason,
everything in its charge is killed and removed.

Nothing of the harness is imported here: the standard library, psutil, and docker-py once an engine is named.
"""

import contextlib
import importlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import psutil

OWNER_VARIABLE = "ROCKETCHAOS_OWNER"
"""The environment variable of every process that the harness starts; its children inherit it."""

OWNER_LABEL = "rocketchaos.owner"
"""The label of every container, network and volume that the harness makes; its value is the owner's token."""

CREATED_TOLERANCE_S = 2.0
"""How far two readings of a process's start may differ: psutil reckons it from the wall clock at boot."""

_LIMIT_S = 4.5
_BETWEEN_SCANS_S = 0.35
# A child that was forked but hasn't become its program yet doesn't carry the token yet: three scans, two
# pauses, 0.7 s without a find.
_SCANS_WITHOUT_FIND = 3
# An engine goes on with a request whose sender is dead: what it was asked to create shows up later.
_ENGINE_QUIET_S = 1.5
# How long the reaper tries where the engine is slow, or away; one that is well takes a second.
_ENGINE_LIMIT_S = 30.0
_REQUEST_LIMIT_S = 10
_REMOVALS_AT_ONCE = 8


def owned_processes(is_owner: Callable[[str], bool]) -> Iterator[tuple[psutil.Process, str]]:
    """Processes, with their owner's token, that this user may see and whose owner is asked for."""
    for process in psutil.process_iter():
        # Gone meanwhile, dead already, or another user's.
        with contextlib.suppress(psutil.Error, OSError):
            token = process.environ().get(OWNER_VARIABLE)
            if token is not None and is_owner(token) and process.pid != os.getpid():
                yield process, token


def same_process(pid: int, created_s: float) -> psutil.Process | None:
    """The process with this id, if it is the one that was started then (Unix time), and not a zombie."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        is_same = abs(process.create_time() - created_s) <= CREATED_TOLERANCE_S
        if is_same and process.status() != psutil.STATUS_ZOMBIE:
            return process
    return None


def kill(process: psutil.Process) -> None:
    """Continue the process, should it be stopped, and SIGKILL it; nothing if it is gone."""
    with contextlib.suppress(psutil.Error, ProcessLookupError):
        process.send_signal(signal.SIGCONT)
        process.kill()


@dataclass(frozen=True, slots=True)
class OwnedThing:
    """What a harness made in a container engine."""

    kind: str
    """`container`, `network` or `volume`."""
    id: str
    name: str
    owner: str


def engine_client(base_url: str) -> Any:
    """A client (`docker.DockerClient`) of the engine at this address, with the certificates of the environment.

    Raises:
        docker.errors.DockerException: it isn't there, or doesn't let us in.
    """
    # docker-py takes 0.4 s and 25 MB, which only those pay who have containers.
    import docker

    return docker.from_env(timeout=_REQUEST_LIMIT_S, environment={**os.environ, "DOCKER_HOST": base_url})


def owned_things(client: Any, is_owner: Callable[[str], bool]) -> list[OwnedThing]:
    """The containers, running or not, then the networks and volumes, that carry such an owner's label.

    Raises:
        docker.errors.DockerException: the engine refuses.
        requests.RequestException: it doesn't answer.
    """
    asked = {"label": OWNER_LABEL}
    listed = (
        ("container", client.api.containers(all=True, filters=asked)),
        ("network", client.api.networks(filters=asked)),
        ("volume", client.api.volumes(filters=asked)["Volumes"] or []),
    )
    things = []
    for kind, found in listed:
        for each in found:
            owner = str((each.get("Labels") or {}).get(OWNER_LABEL))
            if is_owner(owner):
                name = str(each["Names"][0]).lstrip("/") if each.get("Names") else str(each.get("Name", ""))
                things.append(OwnedThing(kind, str(each.get("Id", name)), name, owner))
    return things


def clear_engine(
    connect: Callable[[], Any], is_owner: Callable[[str], bool], limit_s: float, quiet_s: float = 0.0
) -> tuple[list[OwnedThing], dict[OwnedThing, str]]:
    """Remove what these owners made, until nothing is found for `quiet_s`, at most for `limit_s`.

    Args:
        connect: makes a client, `docker.DockerClient`.
        is_owner: of whom.
        limit_s: an engine that doesn't answer is asked again so long.
        quiet_s: see above.

    Returns:
        What was removed, and what is still there, with the engine's reason.

    Raises:
        docker.errors.DockerException, requests.RequestException: as `owned_things`, at the end of the limit.
    """
    from docker.errors import DockerException

    deadline = time.monotonic() + limit_s
    quiet_since = time.monotonic()
    seen: dict[str, OwnedThing] = {}
    left: dict[OwnedThing, str] = {}
    client = None
    while True:
        try:
            client = client or connect()
            left = _sweep(client, is_owner)
        except (DockerException, OSError):
            if time.monotonic() > deadline:
                raise
            quiet_since = time.monotonic()
        else:
            seen |= {thing.id: thing for thing in left}
            if left:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since >= quiet_s:
                break
        if time.monotonic() > deadline:
            break
        # No condition to await: what a request under way makes can't be seen yet. The reaper needs nothing but
        # psutil, so that the loop is its own.
        time.sleep(_BETWEEN_SCANS_S)
    left = {thing: reason for thing, reason in left.items() if reason}
    return [thing for thing in seen.values() if thing not in left], left


def _sweep(client: Any, is_owner: Callable[[str], bool]) -> dict[OwnedThing, str]:
    """Remove what there is; all that was there, each with the reason why it may still be there."""
    found = owned_things(client, is_owner)
    reasons: dict[OwnedThing, str] = {}
    with ThreadPoolExecutor(_REMOVALS_AT_ONCE) as pool:
        # In this order: a network, or a volume, is removed once no container uses it.
        for kind in ("container", "network", "volume"):
            things = [thing for thing in found if thing.kind == kind]
            reasons |= zip(things, pool.map(lambda thing: _remove(client, thing), things), strict=True)
    return reasons


def _remove(client: Any, thing: OwnedThing) -> str:
    """Remove it; why the engine refuses, or nothing."""
    from docker.errors import DockerException, NotFound

    try:
        if thing.kind == "container":
            client.api.remove_container(thing.id, v=True, force=True)
        elif thing.kind == "network":
            client.api.remove_network(thing.id)
        else:
            client.api.remove_volume(thing.name, force=True)
    except NotFound:
        return ""
    except (DockerException, OSError) as error:
        # The next scan shows whether it is gone anyway.
        return str(getattr(error, "explanation", None) or error)
    return ""


class Charge:
    """What the reaper looks after."""

    def __init__(self) -> None:
        self._tokens: set[str] = set()
        self._engines: set[str] = set()
        self._own: dict[int, float] = {}
        self._folders: list[str] = []
        self.released = False

    def hear(self, line: bytes) -> None:
        """Take one line from the harness; half a line, its last, is no message."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            message = json.loads(line)
            if "token" in message:
                self._tokens.add(str(message["token"]))
            elif "forget" in message:
                self._tokens.discard(str(message["forget"]))
            elif "own" in message:
                pid, created_s = message["own"]
                self._own[int(pid)] = float(created_s)
            elif "engine" in message:
                self._engines.add(str(message["engine"]))
                # Now, not when every moment counts.
                importlib.import_module("docker")
            elif "remove" in message:
                self._folders.append(str(message["remove"]))
            elif "release" in message:
                self.released = True

    def end_everything(self) -> None:
        """Kill and remove until nothing is found for a while, then remove the folders.

        Where containers are left, or their engine can't be asked, the folders stay: they are the evidence by
        which `rocketchaos clean` knows whose those are.
        """
        with ThreadPoolExecutor() as pool:
            clearances = [pool.submit(self._clear, base_url) for base_url in self._engines]
            self._end_processes()
        if all(clearance.result() for clearance in clearances):
            for folder in self._folders:
                shutil.rmtree(folder, ignore_errors=True)

    def _clear(self, base_url: str) -> bool:
        """Whether nothing of its owners is left in this engine."""
        from docker.errors import DockerException

        try:
            _, left = clear_engine(
                lambda: engine_client(base_url), self._tokens.__contains__, _ENGINE_LIMIT_S, _ENGINE_QUIET_S
            )
        except (DockerException, OSError):
            return False
        return not left

    def _end_processes(self) -> None:
        """Kill until nothing is found for a while, at most for `_LIMIT_S`."""
        deadline = time.monotonic() + _LIMIT_S
        without_find = 0
        while without_find < _SCANS_WITHOUT_FIND and time.monotonic() < deadline:
            found = list(self._find())
            for process in found:
                kill(process)
            without_find = 0 if found else without_find + 1
            if without_find < _SCANS_WITHOUT_FIND:
                # No condition to await: this is for what can't be seen yet.
                time.sleep(_BETWEEN_SCANS_S)

    def _find(self) -> Iterator[psutil.Process]:
        for process, _ in owned_processes(self._tokens.__contains__):
            if process.status() != psutil.STATUS_ZOMBIE:
                yield process
        for pid, created_s in self._own.items():
            if process_or_none := same_process(pid, created_s):
                yield process_or_none


def main() -> int:
    """Listen until the harness is gone, then act."""
    # What ends the harness (Ctrl-C, a closed terminal, a polite kill) is no reason for the reaper to end.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    print("ready", flush=True)
    charge = Charge()
    for line in sys.stdin.buffer:
        charge.hear(line)
        if charge.released:
            return 0
    charge.end_everything()
    return 0


if __name__ == "__main__":
    sys.exit(main())
