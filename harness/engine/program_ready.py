"""More conditions for a user's program than membership of its group: `ready` in `app`."""

from __future__ import annotations

import contextlib
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from rocketchaos.harness.cluster.base import Networked
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.engine.program_start import LOOK_EVERY_S, awaited, connection_of
from rocketchaos.harness.language.app_spec import Ready
from rocketchaos.harness.workers.program_log import LOG_LIMIT_BYTES

if TYPE_CHECKING:
    from rocketchaos.harness.probes.context import ProbeContext


def wait_until_ready(context: ProbeContext, name: str, limit_s: float, log: Path, begin: int) -> None:
    """Wait until what `ready` says holds, of a program that is a member of its group already.

    `begin` is where the output of this start begins in its log, in bytes.

    Raises:
        EnvironmentNotReady: it ends, or the limit passes; the message says what was last seen.
    """
    app = context.scenario.consumers[name].app
    if app is None or app.ready is None:
        return
    ready = app.ready
    last = ""

    def look() -> bool | None:
        nonlocal last
        last = _missing(context, name, ready, log, begin)
        return None if last else True

    def why_not() -> EnvironmentNotReady:
        return EnvironmentNotReady(
            f"the program of {name} is a member of its group, but not `ready` within "
            f"{app.ready_within / 1000:g} s: {last}",
            "Its output is in the run folder, logs/. `ready_within` gives it more time.",
            about=(name,),
        )

    awaited(context, max(limit_s, LOOK_EVERY_S), look, why_not)


def _missing(context: ProbeContext, name: str, ready: Ready, log: Path, begin: int) -> str:
    """The condition that doesn't hold yet; empty: all hold."""
    if ready.members is not None:
        group = context.scenario.consumers[name].group
        for broker, address in context.servers.keepers_of_group(group).items():
            count = len(connection_of(context, group, address).get("connections", []))
            if count < ready.members:
                return (
                    f"{broker} knows {count} of the {ready.members} members of {group} that `ready` demands"
                )
    if ready.port is not None and not _listens(_host(context, name), ready.port):
        return f"no process accepts connections on port {ready.port}"
    if ready.log is not None and not _has_printed(context, name, ready.log, log, begin):
        return f"no line is found by {ready.log!r}{_of_the_first(log)}"
    return ""


def _host(context: ProbeContext, name: str) -> str:
    """Where a program listens.

    Raises:
        EnvironmentNotReady: this host doesn't reach its container.
    """
    container = context.consumers[name].container
    if container is None:
        return "127.0.0.1"
    cluster = context.servers.cluster
    if isinstance(cluster, Networked) and cluster.only_inside:
        raise EnvironmentNotReady(
            f"`ready: {{port: …}}` of {name} can't be seen: the container engine runs in a VM, and this host "
            "doesn't reach its containers",
            "Use `ready: {log: …}`.",
            about=(name,),
        )
    return container.address


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
        return True
    return False


def _of_the_first(log: Path) -> str:
    """What to add where a jar has printed more than its log keeps; lines of a `command` are seen as they come."""
    with contextlib.suppress(OSError):
        if log.stat().st_size >= LOG_LIMIT_BYTES:
            return f"; of a jar, the first {LOG_LIMIT_BYTES >> 20} MiB of output are searched"
    return ""


def _has_printed(context: ProbeContext, name: str, pattern: str, log: Path, begin: int) -> bool:
    printed = context.consumers[name].printed()
    if printed is not None:
        return bool(printed["ready"])
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(begin)
        return any(re.search(pattern, line.decode(errors="replace").rstrip("\r\n")) for line in file)
    return False
