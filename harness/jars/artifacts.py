"""The jars of any RocketMQ version, by role; `harness.jars.bundles` fetches and keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rocketchaos.harness.jars import builds
from rocketchaos.harness.jars.bundles import Bundle, indexes, jars
from rocketchaos.harness.jars.released_jars import released_jars
from rocketchaos.harness.rocketmq import versions

if TYPE_CHECKING:
    from rocketchaos.harness.jars.maven import Repository

Role = Literal["server", "tools", "client", "all-servers", "grpc-java"]
Progress = Callable[[str], None]

GROUP = "org.apache.rocketmq"

ARTIFACTS: Mapping[Role, Sequence[str]] = {
    "server": ("rocketmq-namesrv", "rocketmq-broker"),
    "tools": ("rocketmq-tools",),
    "client": ("rocketmq-client",),
}
"""The artifacts of each role that a run needs. Clients get a class path of their own: with the broker's jars
on it a 5.x client takes the broker's log configuration."""

PROXY = "rocketmq-proxy"
"""The additional artifact that servers of 5.x need for gRPC clients."""
_GRPC_CLIENT = "rocketmq-client-java"
"""The artifact of the Java client that speaks gRPC. Its versions are its own."""
_SERVER_INDEX = "-server.json"


def classpath(version: str, role: Role, progress: Progress | None = None) -> tuple[Path, ...]:
    """The jars that a role of this RocketMQ version needs, fetched where the cache lacks them.

    Args:
        version: a release of 4.9.x or 5.x, such as 4.9.4, or the name of a build (`harness.jars.builds`).
        role: `server` (name server and broker), `tools` (the admin client), `client`, `all-servers` (with the
            proxy of 5.x too, a hundred megabytes more: only fetched if it is needed), or `grpc-java` (the Java
            client that speaks gRPC, in a version of its own).
        progress: called with a few words before anything that takes time.

    Raises:
        UsageProblem: no such version.
        EnvironmentNotReady: something is missing and can't be fetched, or the cache can't be written.
    """
    versions.parse(version)
    if versions.is_build(version):
        return builds.named(version).classpath(role)

    def require(_repository: Repository) -> None:
        # Only here, where something is missing.
        from rocketchaos.harness.jars import releases

        releases.require(releases.Need(version, (role,)))

    return jars(bundle(version, role), progress, require)


def cached(version: str) -> bool:
    """Whether every role's jars of this version are in the cache, so that no network is needed.

    Raises:
        UsageProblem: no such version can be.
        EnvironmentNotReady: the cache can't be used.
    """
    versions.parse(version)
    return versions.is_build(version) or all(bundle(version, role).whole() for role in ARTIFACTS)


def in_cache() -> list[str]:
    """The versions with the jars of every role in the cache, the oldest first; raises as `cached`."""
    found = (index.name.removesuffix(_SERVER_INDEX) for index in indexes(f"*{_SERVER_INDEX}"))
    return [version for version in versions.ascending(found) if cached(version)]


def bundle(version: str, role: Role) -> Bundle:
    """The jars of a role of this version."""
    resolved = resolved_bundle(version, role)
    jars = released_jars(resolved.name)
    return resolved if jars is None else replace(resolved, coordinates=jars, complete=True)


def resolved_bundle(version: str, role: Role) -> Bundle:
    """The same jars; their POMs say which they are."""
    title = _GRPC_CLIENT if role == "grpc-java" else "RocketMQ"
    return Bundle(f"{version}-{role}", f"{title} {version}", coordinates(version, role), part=role)


def coordinates(version: str, role: Role) -> list[str]:
    """The Maven artifacts of a role in this version, `group:artifact:version`."""
    return [f"{GROUP}:{artifact}:{version}" for artifact in _artifacts(version, role)]


def _artifacts(version: str, role: Role) -> Sequence[str]:
    if role == "grpc-java":
        return (_GRPC_CLIENT,)
    if role != "all-servers":
        return ARTIFACTS[role]
    proxy = [PROXY] if versions.has_proxy(version) else []
    return [*ARTIFACTS["server"], *proxy]
