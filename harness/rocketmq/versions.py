"""RocketMQ's version numbers: which are supported, and which are near to one that isn't there."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.rocketmq.version_range import contains

_FORM = re.compile(r"(\d+)\.(\d+)\.(\d+)")

PROXY_SINCE = ">=5.0"
"""The versions of RocketMQ that have a proxy."""

VersionNumbers = tuple[int, int, int]


def parse(version: str) -> VersionNumbers:
    """The three numbers of a supported version.

    Raises:
        UsageProblem: no version such as 4.9.4, or neither 4.9.x nor 5.x.
    """
    found = _FORM.fullmatch(version)
    if found is None:
        raise UsageProblem(
            f"{version!r} is no RocketMQ version",
            "Give all three numbers of a release: 4.9.4 or 5.3.3, for example.",
        )
    numbers = (int(found[1]), int(found[2]), int(found[3]))
    if not is_supported(numbers):
        raise UsageProblem(f"RocketMQ {version} is not supported", "Versions 4.9.x and 5.x are.")
    return numbers


def is_supported(numbers: VersionNumbers) -> bool:
    """Whether the harness knows how to run this version: 4.9.x and 5.x."""
    return numbers[:2] == (4, 9) or numbers[0] == 5


def has_proxy(version: str) -> bool:
    """Whether this version has a proxy, for clients that speak gRPC.

    Raises:
        UsageProblem: no such version can be.
    """
    parse(version)
    return contains(PROXY_SINCE, version)


def ascending(texts: Iterable[str]) -> list[str]:
    """The supported releases among these, each once, the oldest first; previews and snapshots are none."""
    numbers = {_numbers(text) for text in texts}
    return [".".join(map(str, number)) for number in sorted(filter(None, numbers)) if is_supported(number)]


def nearest(version: str, existing: Iterable[str], count: int = 4) -> list[str]:
    """Up to `count` supported releases among `existing`, around `version`, the oldest first."""
    releases = ascending(existing)
    middle = bisect.bisect(releases, parse(version), key=parse)
    first = max(0, min(middle - count // 2, len(releases) - count))
    return releases[first : first + count]


def _numbers(text: str) -> VersionNumbers | None:
    """The numbers of a release; None for previews and snapshots."""
    found = _FORM.fullmatch(text)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))
