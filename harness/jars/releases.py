"""Which releases of RocketMQ are available: from the cache without a network, or from the Maven repository.

The repository's own lists (`maven-metadata.xml`) lack some of what it has: Maven Central lists no rocketmq-client
4.9.7, and has it. And it has half of some releases, as name server and broker of 5.3.4 without tools and client.
So a release is there where each artifact that is needed is listed, or has a POM.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady, RocketchaosError, UsageProblem
from rocketchaos.harness.jars import builds
from rocketchaos.harness.jars.artifacts import (
    ARTIFACTS,
    GROUP,
    PROXY,
    Progress,
    Role,
    bundle,
    coordinates,
    in_cache,
)
from rocketchaos.harness.jars.bundles import fetch_side_by_side
from rocketchaos.harness.rocketmq import versions

if TYPE_CHECKING:
    from rocketchaos.harness.jars.maven import Repository


@dataclass(frozen=True, slots=True)
class Need:
    """The roles that somebody needs of a release."""

    version: str
    roles: tuple[Role, ...] = tuple(ARTIFACTS)
    """Everything for servers of this version and the clients that belong to them, except for a proxy."""

    @property
    def supported(self) -> bool:
        """Whether the harness can run this version; raises `UsageProblem` where it is none."""
        return versions.is_supported(versions.numbers(self.version))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The artifacts, `group:artifact:version`."""
        return tuple(coordinate for role in self.roles for coordinate in coordinates(self.version, role))

    @property
    def cached(self) -> bool:
        """Whether all of it is in the cache, or a build; raises as `harness.core.paths.maven_folder`."""
        return versions.is_build(self.version) or all(
            bundle(self.version, role).whole() is not None for role in self.roles
        )


@dataclass(frozen=True, slots=True)
class Release:
    """A release of which the repository, or the cache, has something."""

    version: str
    cached: bool
    """All that runs need is in the cache, so that no network is needed."""
    lacks: tuple[str, ...] = ()
    """The artifacts that runs need and the repository hasn't; none: it can be run here."""
    proxy: bool = False
    """Whether there is a proxy."""

    @property
    def has(self) -> tuple[str, ...]:
        """The parts that are there whole: `server`, `tools`, `client`, `proxy`."""
        whole = (role for role, needed in ARTIFACTS.items() if not set(needed) & set(self.lacks))
        return (*whole, *(["proxy"] if self.proxy else ()))


def absences(needs: Iterable[Need], progress: Progress | None = None) -> dict[Need, RocketchaosError]:
    """Those of the needs that can't be downloaded, and why; all are asked in parallel, and no jar is fetched.

    A `UsageProblem`: there is no such release, or it is not supported; which are near. An `EnvironmentNotReady`:
    that is unknown.

    Raises:
        UsageProblem: a version is none, or the repository that the environment names is no URL.
        EnvironmentNotReady: the cache can't be used.
    """
    wanted = tuple(dict.fromkeys(needs))
    lacking: dict[Need, RocketchaosError] = {}
    lacking.update((need, error) for need in wanted if (error := _lacking_build(need)) is not None)
    missing = [need for need in wanted if not need.supported or not need.cached]
    if not missing:
        return lacking
    repository = _repository(progress)
    if progress is not None:
        text = ", ".join(dict.fromkeys(need.version for need in missing))
        progress(f"asking {repository.name} for RocketMQ {text}")
    found = repository.has(
        coordinate for need in missing if need.supported for coordinate in need.coordinates
    )
    there = functools.cache(functools.partial(_releases, repository))
    absent = {need: _absence(need, found, repository.name, there) for need in missing}
    return lacking | {need: error for need, error in absent.items() if error is not None}


def _lacking_build(need: Need) -> UsageProblem | None:
    """That a build lacks a proxy where one is needed; it has all other jars that it needs."""
    if not versions.is_build(need.version) or "all-servers" not in need.roles:
        return None
    build = builds.named(need.version)
    if build.has_proxy:
        return None
    return UsageProblem(f"the build {build.name} has no rocketmq-proxy jar in {build.folder / 'lib'}")


def require(need: Need, progress: Progress | None = None) -> None:
    """Make sure that this is available.

    Raises:
        UsageProblem: there is no such version; the message names the nearest.
        EnvironmentNotReady: the repository can't be reached, or the cache can't be used.
    """
    for error in absences([need], progress).values():
        raise error


def fetch(needs: Iterable[Need], progress: Progress | None = None) -> dict[Need, RocketchaosError]:
    """Have the jars of all this in the cache, several versions at a time; those that aren't available, and why.

    Raises:
        EnvironmentNotReady: the cache can't be used.
    """
    wanted = tuple(need for need in dict.fromkeys(needs) if not versions.is_build(need.version))
    groups = [[bundle(need.version, role) for role in need.roles] for need in wanted]
    errors = zip(wanted, fetch_side_by_side(groups, progress), strict=True)
    return {need: error for need, error in errors if error is not None}


def releases(progress: Progress | None = None) -> tuple[list[Release], EnvironmentNotReady | None]:
    """Every release that there is, also in part, the oldest first; and why there may be more of them, if so.

    Without a network those in the cache.

    Raises:
        UsageProblem: the repository that the environment names is no URL.
        EnvironmentNotReady: the cache can't be used.
    """
    cached, repository = set(in_cache()), _repository(progress)
    there = _there(repository, ("server", "tools", "client", "all-servers"))
    found = []
    for version in versions.ascending([*cached, *there]):
        own = there.get(version, set())
        needed = [artifact for role in ARTIFACTS.values() for artifact in role]
        lacks = () if version in cached else tuple(item for item in needed if item not in own)
        proxy = PROXY in own or (versions.has_proxy(version) and Need(version, ("all-servers",)).cached)
        found.append(Release(version, version in cached, lacks, proxy))
    return found, repository.unreachable


def _repository(progress: Progress | None) -> Repository:
    # Only here, where something is missing: it takes longer to load than everything else together.
    from rocketchaos.harness.jars.maven import Repository

    return Repository(paths.maven_folder(), progress or (lambda _text: None))


def _absence(
    need: Need,
    found: Mapping[str, bool | EnvironmentNotReady],
    repository: str,
    there: Callable[[tuple[Role, ...]], list[str]],
) -> RocketchaosError | None:
    if not need.supported:
        return versions.unsupported(need.version, _nearest(need, there))
    answers = {coordinate: found[coordinate] for coordinate in need.coordinates}
    missing = [item for item, answer in answers.items() if answer is False]
    if missing:
        names = [item.split(":")[1] for item in missing]
        what = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        are = "are" if names[1:] else "is"
        return UsageProblem(
            f"there is no RocketMQ {need.version} in {repository}: {what} {are} missing",
            _nearest(need, there),
        )
    failed = next((item for item in answers.values() if isinstance(item, EnvironmentNotReady)), None)
    if failed is None:
        return None
    hint = failed.hint
    if cached := in_cache():
        hint = f"In the cache, without a network: {', '.join(cached)}. {hint}"
    return EnvironmentNotReady(f"RocketMQ {need.version} is not in the cache, and {failed.message}", hint)


def _nearest(need: Need, there: Callable[[tuple[Role, ...]], list[str]]) -> str:
    # Servers are of no use without the rest; a client alone is, beside servers of another version.
    roles = need.roles if need.roles == ("client",) else tuple({**ARTIFACTS, **dict.fromkeys(need.roles)})
    cached = [] if "all-servers" in roles else in_cache()
    near = versions.nearest(need.version, [*there(roles), *cached])
    return (
        f"The nearest versions: {', '.join(near)}."
        if near
        else "Which versions it has could not be found out."
    )


def _releases(repository: Repository, roles: tuple[Role, ...]) -> list[str]:
    """The supported releases of which the repository has all that these roles need."""
    there = _there(repository, roles)
    needed = {
        version: {coordinate.split(":")[1] for coordinate in Need(version, roles).coordinates}
        for version in there
    }
    return [version for version, own in there.items() if needed[version] <= own]


def _there(repository: Repository, roles: tuple[Role, ...]) -> dict[str, set[str]]:
    """The supported releases, the oldest first, each with what the repository has of these roles' artifacts."""
    artifacts = {item.split(":")[1] for role in roles for item in coordinates("5.0.0", role)}
    listed = repository.versions(GROUP, artifacts)
    candidates = versions.ascending(version for own in listed.values() for version in own)
    unlisted = {
        need.version: [
            coordinate
            for coordinate in need.coordinates
            if need.version not in listed.get(coordinate.split(":")[1], ())
        ]
        for need in (Need(version, roles) for version in candidates)
    }
    found = repository.has(item for own in unlisted.values() for item in own)
    return {
        version: {
            item.split(":")[1] for item in Need(version, roles).coordinates if found.get(item, True) is True
        }
        for version in unlisted
    }
