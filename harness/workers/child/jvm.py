"""The common part of workers with a JVM inside: arguments, the JVM's start, Java's failures as plain ones.

The JVM lives in the worker's own process (JPype), so that SIGKILL of the worker is the death of the real
client, and SIGSTOP its pause.
"""

import argparse
import functools
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jpype

from rocketchaos.harness.workers.protocol import CommandFailed, EventPipe, Handler, serve

_ARCHIVES = "-XX:ArchiveClassesAtExit="
_VANISHED_INTERFACE = "NetworkUtil.getLocalAddress"
_LOOKS_FOR_THE_ADDRESS = 5
_CAUSES_AT_MOST = 8
"""An exception may be its own cause's cause."""
_NO_CODE = -1
"""What MQClientException.getResponseCode says where there is none."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The command line of a worker with a JVM."""

    events_fd: int
    classpath: tuple[str, ...]
    jvm_options: tuple[str, ...]
    libjvm: Path | None
    """None: the one that JPype finds (`JAVA_HOME`, or where distributions install it)."""
    spare: Path | None
    """Where a command takes it, see `Spare`; None: the command has started it."""


def arguments(words: Sequence[str] | None = None) -> Arguments:
    """Read the command line (`--events-fd`, `--classpath-file`, `--libjvm`, `--jvm-option` repeated, `--spare`).

    `--classpath-file` names a JSON file with a list of jars. `words` are in place of this process's own.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--events-fd", type=int, required=True)
    parser.add_argument("--classpath-file", type=Path, required=True)
    parser.add_argument("--libjvm", type=Path)
    parser.add_argument("--jvm-option", action="append", default=[])
    parser.add_argument("--spare", type=Path)
    given = parser.parse_args(words)
    return Arguments(
        events_fd=given.events_fd,
        classpath=tuple(json.loads(given.classpath_file.read_text())),
        jvm_options=tuple(given.jvm_option),
        libjvm=given.libjvm,
        spare=given.spare,
    )


def start(given: Arguments) -> None:
    """Start this process's JVM; where that fails, end the process with what JPype says of it.

    The JVM itself has printed the cause by then.
    """
    try:
        jpype.startJVM(
            *given.jvm_options,
            jvmpath=None if given.libjvm is None else str(given.libjvm),
            classpath=list(given.classpath),
            convertStrings=False,
        )
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"no JVM{f' from {given.libjvm}' if given.libjvm else ''}: {error}")


def run(
    given: Arguments,
    events: EventPipe,
    handlers: Mapping[str, Handler],
    shut_down: Callable[[], None] = lambda: None,
) -> None:
    """Serve commands until standard input closes, then end this process at once; SIGTERM: see `serve`.

    RocketMQ's clients keep threads that would hold up an orderly end of the JVM for ever.
    """
    serve(events, translated(handlers), shut_down=shut_down)
    if any(option.startswith(_ARCHIVES) for option in given.jvm_options):
        jpype.JClass("java.lang.System").exit(0)  # on which it writes its archive
    os._exit(0)


def translated(handlers: Mapping[str, Handler]) -> dict[str, Handler]:
    """The same handlers, with Java's exceptions as CommandFailed."""
    return {name: _translated(handler) for name, handler in handlers.items()}


def _translated(handler: Handler) -> Handler:
    """The handler, with Java's exceptions as CommandFailed."""

    @functools.wraps(handler)
    def call(**with_: Any) -> Mapping[str, Any] | None:
        try:
            return handler(**with_)
        except jpype.JException as error:
            raise failure(error) from error

    return call


def failure(error: Any) -> CommandFailed:
    """A Java exception as one line, with RocketMQ's response code where it carries one.

    MQClientException and MQBrokerException (org.apache.rocketmq.client.exception, 4.9 and 5.x) have
    `getResponseCode` and `getErrorMessage`; their messages go on with links to the FAQ, which are left out.
    """
    code = int(error.getResponseCode()) if hasattr(error, "getResponseCode") else _NO_CODE
    said = error.getErrorMessage() if hasattr(error, "getErrorMessage") else None
    message = _first_line(said) or _first_line(error.getMessage()) or "no message"
    cause = error.getCause()
    reason = None if cause is None else _first_line(cause.getMessage())
    if reason is not None and reason not in message:
        message += f" ({cause.getClass().getSimpleName()}: {reason})"
    chain = [error]
    while (deeper := chain[-1].getCause()) is not None and len(chain) < _CAUSES_AT_MOST:
        chain.append(deeper)
    exceptions = [str(item.getClass().getSimpleName()) for item in chain]
    return CommandFailed(f"{exceptions[0]}: {message}", None if code == _NO_CODE else code, exceptions)


def _first_line(message: Any) -> str | None:
    lines = str(message).strip().splitlines() if message is not None else []
    return lines[0].strip() if lines else None


def text(value: Any) -> str | None:
    """A Java string, enum or number as text; null is None."""
    return None if value is None else str(value)


def new_client(java_class: str, *arguments: Any) -> Any:
    """A new object of one of RocketMQ's clients.

    The constructors of 5.x look for this host's address among its network interfaces, and throw a
    NullPointerException where one vanishes meanwhile, as those of containers do (`NetworkUtil.getLocalAddress`;
    5.5.0). The next look finds those that are left.

    Raises:
        jpype.JException: RocketMQ refuses, or the address isn't found in five looks.
    """
    for _ in range(_LOOKS_FOR_THE_ADDRESS - 1):
        try:
            return jpype.JClass(java_class)(*arguments)
        except jpype.JException as error:
            if _VANISHED_INTERFACE not in str(error.stacktrace()):
                raise
    return jpype.JClass(java_class)(*arguments)


def set_property(client: Any, setting: str, value: Any) -> None:
    """Call a client's setter.

    Raises:
        CommandFailed: this version has none, or it doesn't take the value.
        jpype.JException: RocketMQ refuses the value.
    """
    setter = "set" + setting[:1].upper() + setting[1:]
    name = client.getClass().getSimpleName()
    if not hasattr(client, setter):
        raise CommandFailed(f"{name} of this version has no setting `{setting}`")
    try:
        getattr(client, setter)(value)
    except TypeError as error:
        raise CommandFailed(f"{name}.{setter} doesn't take {value!r}") from error


def private_field(owner: Any, name: str) -> Any:
    """The value of a private field, also of a superclass; RocketMQ has no accessor for it.

    Raises:
        CommandFailed: there is no such field in this version.
    """
    java_class = owner.getClass()
    while java_class is not None:
        for field in java_class.getDeclaredFields():
            if str(field.getName()) == name:
                field.setAccessible(True)
                return field.get(owner)
        java_class = java_class.getSuperclass()
    raise CommandFailed(f"{owner.getClass().getName()} has no field {name} in this version")
