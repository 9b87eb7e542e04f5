"""RocketMQ's version numbers: which are supported, and which are near to one that isn't there."""

import bisect
import re
from collections.abc import Iterable

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.rocketmq.version_range import contains

_FORM = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_BUILD = re.compile(rf"{_FORM.pattern}(?:[-.][\w.-]+)?\+[0-9a-f]{{8}}")
"""The name of a build (`harness.jars.builds`): the version of its jars, and their digest."""

PROXY_SINCE = ">=5.0"
"""The versions of RocketMQ that have a proxy."""
PROXY_PLAIN_SINCE = ">=5.1"
"""Those whose proxy takes clients without TLS: that of 5.0.0 speaks gRPC with TLS alone."""
CONTROLLER_SINCE = ">=5.0"
"""The versions that have a controller, which elects masters."""

VersionNumbers = tuple[int, int, int]


def numbers(version: str) -> VersionNumbers:
    """The three numbers of a version or of a build's, supported or not.

    Raises:
        UsageProblem: no version such as 4.9.4.
    """
    found = _FORM.fullmatch(version) or _BUILD.fullmatch(version)
    if found is None:
        raise UsageProblem(
            f"{version!r} is no RocketMQ version",
            "Give all three numbers of a release, 4.9.4 or 5.3.3, or the folder of a build of your own.",
        )
    return int(found[1]), int(found[2]), int(found[3])


def parse(version: str) -> VersionNumbers:
    """The three numbers of a supported version, or of a build's.

    Raises:
        UsageProblem: no version such as 4.9.4, or neither 4.9.x nor 5.x.
    """
    found = numbers(version)
    if not is_supported(found):
        raise unsupported(version)
    return found


def unsupported(version: str, hint: str = "") -> UsageProblem:
    """The message about a version that the harness can't run."""
    return UsageProblem(f"RocketMQ {version} is not supported: versions 4.9.x and 5.x are", hint)


def is_build(version: str) -> bool:
    """Whether it is the name of a build of one's own, and not a release."""
    return _BUILD.fullmatch(version) is not None


def is_supported(version: VersionNumbers) -> bool:
    """Whether the harness knows how to run this version: 4.9.x and 5.x."""
    return version[:2] == (4, 9) or version[0] == 5


def has_proxy(version: str) -> bool:
    """Whether this version has a proxy, for clients that speak gRPC.

    Raises:
        UsageProblem: no such version can be.
    """
    parse(version)
    return contains(PROXY_SINCE, version)


def ascending(texts: Iterable[str]) -> list[str]:
    """The supported releases among these, each once, the oldest first, without previews and snapshots."""
    found = {_numbers(text) for text in texts}
    return [".".join(map(str, number)) for number in sorted(filter(None, found)) if is_supported(number)]


def nearest(version: str, existing: Iterable[str], count: int = 4) -> list[str]:
    """Up to `count` supported releases among `existing`, around `version`, the oldest first."""
    releases = ascending(existing)
    middle = bisect.bisect(releases, numbers(version), key=numbers)
    first = max(0, min(middle - count // 2, len(releases) - count))
    return releases[first : first + count]


def _numbers(text: str) -> VersionNumbers | None:
    """The numbers of a release; None for previews and snapshots."""
    found = _FORM.fullmatch(text)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))
