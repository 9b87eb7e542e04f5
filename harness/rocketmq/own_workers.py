"""Workers of the user's own: a folder with a program and `worker.yaml`, which says what its client is like.

`ROCKETCHAOS_WORKERS` names the folders. Each is one more kind of client then, in scenarios, matrices and nights.
"""

import dataclasses
import functools
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.core.text import reason_of
from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind, ClientTimer, by_api

VARIABLE = "ROCKETCHAOS_WORKERS"
"""The environment variable with the folders, separated as in PATH."""
MANIFEST = "worker.yaml"
_NAME = re.compile(r"[a-z]+")
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_APIS = ("push", "pop", "lite-pull", "pull", "simple")
_SENDS = ("hash_key",)
"""The further ways of sending that a manifest can have: those that `rocketchaos worker test` tests."""
_TRAITS: Mapping[str, type] = {
    field.name: type(field.default)
    for field in dataclasses.fields(Api)
    if isinstance(field.default, bool | str | tuple) and field.name != "newer"
} | {"implementation": str}
"""The fields of a way of consuming in a manifest, as in `Api`."""


@dataclass(frozen=True, slots=True)
class OwnWorker:
    """The data of a manifest."""

    kind: ClientKind
    command: tuple[str, ...]
    """The program and its first arguments; a path is as the manifest has it, from its folder."""
    folder: Path
    """Where the manifest is."""


@functools.cache
def own_workers() -> tuple[OwnWorker, ...]:
    """Those of the environment.

    Raises:
        UsageProblem: a manifest is missing or broken, or two are of one name.
    """
    folders = [Path(text) for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text]
    found = [read_manifest(folder) for folder in folders]
    names = [item.kind.name for item in found]
    for name in names:
        if names.count(name) > 1:
            raise UsageProblem(f"two workers of {VARIABLE} are called `{name}`", "Rename one of them.")
    return tuple(found)


def read_manifest(folder: Path) -> OwnWorker:
    """The worker whose manifest is in a folder.

    Raises:
        UsageProblem: there is none, or it is broken; with everything that is wrong with it.
    """
    import yaml  # a command without own workers needs none of it

    file = folder.expanduser().absolute() / MANIFEST
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageProblem(
            f"{file} can't be read: {reason_of(error)}",
            "A worker's folder has a worker.yaml: docs/guides/own-client.md shows one.",
        ) from error
    problems = list(_problems(content))
    if problems:
        raise UsageProblem(
            f"{file} is broken: {'; '.join(problems)}", "docs/guides/own-client.md has all of its keys."
        )
    return OwnWorker(_kind(content), tuple(content["command"]), file.parent)


def _problems(content: Any) -> Iterator[str]:
    if not isinstance(content, dict):
        yield "it is no mapping of keys"
        return
    keys = {
        "client",
        "title",
        "version",
        "command",
        "apis",
        "timers",
        "sends",
        "needs_proxy",
        "chooses_queues",
    }
    yield from (_unknown("key", key, keys) for key in content if key not in keys)
    yield from _text_problems(content)
    command = content.get("command")
    if not (isinstance(command, list) and command and all(isinstance(word, str) for word in command)):
        yield "`command` is a list of words: the program and its arguments"
    for key in ("needs_proxy", "chooses_queues"):
        if not isinstance(content.get(key, False), bool):
            yield f"`{key}` is true or false"
    sends = content.get("sends", [])
    if not isinstance(sends, list) or not all(way in _SENDS for way in sends):
        yield f"`sends` is a list of {', '.join(_SENDS)}"
    timers = content.get("timers", {})
    if not isinstance(timers, dict) or not all(type(ms) is int and ms > 0 for ms in timers.values()):
        yield "`timers` has milliseconds by name"
    apis = content.get("apis")
    if not isinstance(apis, dict) or not apis:
        yield f"`apis` has at least one of {', '.join(_APIS)}"
        return
    for name, traits in apis.items():
        yield from _api_problems(name, traits)


def _text_problems(content: Mapping[str, Any]) -> Iterator[str]:
    for key, pattern, like in (
        ("client", _NAME, "lower-case letters"),
        ("title", re.compile(r".+"), "a few words"),
        ("version", _VERSION, "three numbers, as '1.0.0'"),
    ):
        value = content.get(key)
        if not isinstance(value, str) or pattern.fullmatch(value) is None:
            yield f"`{key}` is {like}"


def _api_problems(name: Any, traits: Any) -> Iterator[str]:
    if name not in _APIS:
        yield _unknown("api", name, set(_APIS))
        return
    if not isinstance(traits, dict) or "implementation" not in traits:
        yield f"`{name}` says at least its `implementation`"
        return
    for trait, value in traits.items():
        if trait not in _TRAITS:
            yield f"`{name}`: {_unknown('trait', trait, set(_TRAITS))}"
        elif not isinstance(value, list if _TRAITS[trait] is tuple else _TRAITS[trait]):
            text = {bool: "true or false", str: "text", tuple: "a list of names"}[_TRAITS[trait]]
            yield f"`{name}`: `{trait}` is {text}"
    for trait, known in (("filters_by", ("stored", "own")), ("queues", ("owned", "shared"))):
        if traits.get(trait, known[0]) not in known:
            yield f"`{name}`: `{trait}` is {' or '.join(known)}"


def _unknown(what: str, name: Any, known: set[str]) -> str:
    near = nearest(str(name), known)
    return f"there is no {what} `{name}`" + (f"; did you mean `{near}`?" if near else "")


def _kind(content: Mapping[str, Any]) -> ClientKind:
    apis: list[Api] = []
    for name, traits in content["apis"].items():
        given: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in traits.items()
        }
        apis.append(Api(name, **given))
    return ClientKind(
        content["client"],
        content["title"],
        content["client"],
        by_api(*apis),
        timers=tuple(ClientTimer(name, ms) for name, ms in content.get("timers", {}).items()),
        version=content["version"],
        sends=frozenset(content.get("sends", ())),
        needs_proxy=content.get("needs_proxy", False),
        chooses_queues=content.get("chooses_queues", True),
        behaves_by_key=False,
        compressed=False,
    )
