"""`rocketchaos doctor`: is this machine ready?"""

import functools
import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

import psutil

from rocketchaos.harness.cli.common_options import JsonOption, RocketmqOption
from rocketchaos.harness.cli.terminal import OUT
from rocketchaos.harness.cluster.leftovers import leftovers
from rocketchaos.harness.cluster.running import running
from rocketchaos.harness.core import configuration, paths
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode, RocketchaosError
from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.jars.artifacts import cached
from rocketchaos.harness.jars.builds import version_of
from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.harness.plan.options import DEFAULT_VERSION
from rocketchaos.harness.workers import client_packages, native_library
from rocketchaos.harness.workers.worker_kinds import KINDS, WorkerKind

LEAST_FREE_MEMORY_MIB = 1_024
"""A name server, a broker and five clients take about 900 MiB."""
LEAST_FREE_DISK_MIB = 1_024


@dataclass(frozen=True, slots=True)
class Examination:
    """One thing that was looked at."""

    name: str
    ok: bool
    needed: bool
    """Not ok, but needed: nothing can run."""
    text: str


def doctor(rocketmq: RocketmqOption = DEFAULT_VERSION, as_json: JsonOption = False) -> ExitCode:
    """Check whether this machine can run scenarios, and show what to do if it can't."""
    rocketmq = version_of(rocketmq)
    examinations: list[Callable[[], Examination]] = [
        _python,
        _java,
        _spark,
        _cache,
        _configuration,
        functools.partial(_jars, rocketmq),
        _memory,
        _disk,
        _load,
        functools.partial(_containers, rocketmq),
        *(functools.partial(_client, kind) for kind in KINDS.values() if kind.packages),
        _clusters,
        _leftovers,
    ]
    found = [_examine(examination) for examination in examinations]
    ready = all(entry.ok or not entry.needed for entry in found)
    if as_json:
        document = {
            "schema_version": SCHEMA_VERSION,
            "ready": ready,
            "found": [asdict(entry) for entry in found],
        }
        OUT.print_json(document)
    else:
        for item in found:
            sign = "ok  " if item.ok else "FAIL" if item.needed else "note"
            OUT.print(f"{sign} {item.name}: {item.text}")
        OUT.print("Ready." if ready else "Not ready.")
    return ExitCode.AS_EXPECTED if ready else ExitCode.ENVIRONMENT


def _examine(examination: Callable[[], Examination]) -> Examination:
    try:
        return examination()
    except RocketchaosError as problem:
        function = examination.func if isinstance(examination, functools.partial) else examination
        return Examination(function.__name__.strip("_"), False, True, str(problem))


def _python() -> Examination:
    return Examination("python", True, True, f"{platform.python_version()} at {sys.executable}")


def _java() -> Examination:
    java = find_java()
    return Examination("java", True, True, f"{java.version} at {java.home} (from {java.source})")


def _spark() -> Examination:
    try:
        java = find_java(full_jdk=True)
    except RocketchaosError as problem:
        return Examination("java for Spark reports", False, False, problem.message)
    return Examination("java for Spark reports", True, False, f"{java.version} at {java.home}")


def _cache() -> Examination:
    return Examination("cache", True, True, str(paths.cache_folder()))


def _configuration() -> Examination:
    found = configuration.load()
    return Examination(
        "configuration", True, False, str(found.file or "no file: all settings are the defaults")
    )


def _jars(version: str) -> Examination:
    if cached(version):
        return Examination("jars", True, False, f"RocketMQ {version} is in the cache")
    return Examination("jars", False, False, f"RocketMQ {version} will be fetched at first use (about 30 MB)")


def _client(kind: WorkerKind) -> Examination:
    """Whether the client of a kind that isn't Java's would work; nothing is fetched to find out."""
    name = f"client {kind.name}"
    try:
        own = native_library.check_machine() if kind.native else None
        extras = [kind.packages, *([native_library.EXTRA] if kind.native and own is None else [])]
        text = " and ".join(
            requirement for extra in extras if extra for requirement in client_packages.requirements(extra)
        )
        text += f" over {own}" if own else ""
        there = all(client_packages.installed(extra) for extra in extras if extra)
    except EnvironmentNotReady as refusal:
        return Examination(name, False, False, str(refusal))
    return Examination(
        name, there, False, f"{text}: in the cache" if there else f"{text}: will be installed at first use"
    )


def _memory() -> Examination:
    free_mib = psutil.virtual_memory().available // 2**20
    return Examination(
        "memory",
        free_mib >= LEAST_FREE_MEMORY_MIB,
        False,
        f"{free_mib} MiB free, {LEAST_FREE_MEMORY_MIB} are good",
    )


def _disk() -> Examination:
    folder = paths.cache_folder()
    free_mib = shutil.disk_usage(folder).free // 2**20
    text = f"{free_mib} MiB free for the cache, {LEAST_FREE_DISK_MIB} are good"
    return Examination("disk", free_mib >= LEAST_FREE_DISK_MIB, False, text)


def _load() -> Examination:
    processors, load = os.cpu_count() or 1, os.getloadavg()[0]
    text = f"{load:.2f} on {processors} processors"
    return Examination(
        "load", load <= processors, False, text + ("" if load <= processors else ": timing suffers")
    )


def _containers(version: str) -> Examination:
    """Whether `--on containers` would work; no image is pulled to find out."""
    from rocketchaos.harness.containers.container_engine import connect
    from rocketchaos.harness.containers.images import Images

    try:
        engine = connect()
    except EnvironmentNotReady as refusal:
        return Examination("containers", False, False, f"{refusal.message}: no `--on containers`")
    where = f"{engine.description}{', in a VM' if engine.in_vm else ''}"
    images = Images(engine, lambda _text: None)
    found = images.there("rocketmq", version), images.there("worker", "")
    names = [f"{choice.name} ({choice.reason})" for choice, there in found if there]
    lacking = [choice.name for choice, there in found if not there]
    text = "; ".join([where, *names, *(f"{name} is not there yet" for name in lacking)])
    return Examination("containers", not lacking, False, text)


def _clusters() -> Examination:
    records = running()
    text = ", ".join(
        f"{record.id} RocketMQ {record.version} ({record.kind}, {record.timing}) at {record.nameserver}"
        for record in records
    )
    return Examination("clusters that stay up", True, False, text or "none")


def _leftovers() -> Examination:
    left = leftovers()
    number = len(left.processes) + len(left.things)
    text = (
        f"{number} processes, containers and networks left by harnesses that have ended: `rocketchaos clean`"
        if number
        else "none"
    )
    return Examination("leftovers", not number, False, text)
