"""Which releases of RocketMQ can be had: from the cache without a network, or from the Maven repository.

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
from rocketchaos.harness.jars.artifacts import ARTIFACTS, GROUP, Progress, Role, bundle, coordinates, in_cache
from rocketchaos.harness.jars.bundles import fetch_side_by_side
from rocketchaos.harness.rocketmq import versions

if TYPE_CHECKING:
    from rocketchaos.harness.jars.maven import Repository


@dataclass(frozen=True, slots=True)
class Need:
    """What somebody needs of a release: all of these roles."""

    version: str
    roles: tuple[Role, ...] = tuple(ARTIFACTS)
    """As it is: everything for servers of this version and the clients that belong to them, but for a proxy."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The artifacts, `group:artifact:version`."""
        return tuple(coordinate for role in self.roles for coordinate in coordinates(self.version, role))

    @property
    def cached(self) -> bool:
        """Whether all of it is in the cache; raises as `harness.core.paths.maven_folder`."""
        return all(bundle(self.version, role).whole() is not None for role in self.roles)


@dataclass(frozen=True, slots=True)
class Release:
    """A release that can be run here."""

    version: str
    cached: bool
    """It is in the cache, so that no network is needed."""


def absences(needs: Iterable[Need], progress: Progress | None = None) -> dict[Need, RocketchaosError]:
    """Those of the needs that can't be had, and why; all are asked for side by side, and no jar is fetched.

    A `UsageProblem`: there is no such release, and which are near. An `EnvironmentNotReady`: that can't be told.

    Raises:
        UsageProblem: no such version can be, or the repository that the environment names is no URL.
        EnvironmentNotReady: the cache can't be used.
    """
    wanted = tuple(dict.fromkeys(needs))
    for need in wanted:
        versions.parse(need.version)
    missing = [need for need in wanted if not need.cached]
    if not missing:
        return {}
    repository = _repository(progress)
    if progress is not None:
        text = ", ".join(dict.fromkeys(need.version for need in missing))
        progress(f"asking {repository.name} for RocketMQ {text}")
    found = repository.has(coordinate for need in missing for coordinate in need.coordinates)
    there = functools.cache(functools.partial(_releases, repository))
    absent = {need: _absence(need, found, repository.name, there) for need in missing}
    return {need: error for need, error in absent.items() if error is not None}


def require(need: Need, progress: Progress | None = None) -> None:
    """Make sure that this can be had.

    Raises:
        UsageProblem: there is no such version; the message names the nearest.
        EnvironmentNotReady: the repository can't be reached, or the cache can't be used.
    """
    for error in absences([need], progress).values():
        raise error


def fetch(needs: Iterable[Need], progress: Progress | None = None) -> dict[Need, RocketchaosError]:
    """Have the jars of all this in the cache, several versions at a time; those that can't be had, and why.

    Raises:
        EnvironmentNotReady: the cache can't be used.
    """
    wanted = tuple(dict.fromkeys(needs))
    groups = [[bundle(need.version, role) for role in need.roles] for need in wanted]
    errors = zip(wanted, fetch_side_by_side(groups, progress), strict=True)
    return {need: error for need, error in errors if error is not None}


def releases(progress: Progress | None = None) -> tuple[list[Release], EnvironmentNotReady | None]:
    """Every release that can be run here, the oldest first; and why there may be more of them, if so.

    Without a network those in the cache.

    Raises:
        UsageProblem: the repository that the environment names is no URL.
        EnvironmentNotReady: the cache can't be used.
    """
    cached, repository = set(in_cache()), _repository(progress)
    there = _releases(repository, tuple(ARTIFACTS))
    found = [Release(version, version in cached) for version in versions.ascending([*cached, *there])]
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
    near = versions.nearest(need.version, there(roles))
    return (
        f"The nearest versions: {', '.join(near)}."
        if near
        else "Which versions it has could not be found out."
    )


def _releases(repository: Repository, roles: tuple[Role, ...]) -> list[str]:
    """The supported releases of which the repository has all that these roles need."""
    artifacts = {coordinate.split(":")[1] for role in roles for coordinate in coordinates("5.0.0", role)}
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
    return [version for version, own in unlisted.items() if all(found[item] is True for item in own)]
