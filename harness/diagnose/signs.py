"""What was found from look to look, and for how long."""

from collections.abc import Mapping, Sequence

from rocketchaos.harness.diagnose.finding import SETTLES_S, Found, Result
from rocketchaos.harness.diagnose.model import Look

Place = tuple[str, str]
"""Code and group; the group of the cluster's own checks is empty."""
Sign = tuple[str, str, str, str]
"""Of a thing that was found: code, group, topic and what must stay the same."""


def signs_of(results: Mapping[Place, Sequence[Result]]) -> frozenset[Sign]:
    """All that is found in one look."""
    return frozenset(
        (code, group, item.topic, item.key)
        for (code, group), found in results.items()
        for item in found
        if isinstance(item, Found)
    )


def lasts_s(looks: Sequence[Look], seen: Sequence[frozenset[Sign]], sign: Sign) -> float:
    """How long a thing has been found in every look at its group."""
    group = sign[1]
    own = [
        (look, signs) for look, signs in zip(looks, seen, strict=True) if not group or group in look.stored
    ]
    since = own[-1][0].at_ms
    for look, signs in reversed(own):
        if sign not in signs:
            break
        since = look.at_ms
    return (own[-1][0].at_ms - since) / 1000


def recurring(looks: Sequence[Look], seen: Sequence[frozenset[Sign]]) -> set[Place]:
    """States that come and go for longer than one change takes, as where two members take turns with a queue: a
    look in which they are away doesn't rule them out. One that stays, and then ends for good, was one change."""
    first: dict[Place, int] = {}
    last: dict[Place, int] = {}
    came_again: set[Place] = set()
    away: set[Place] = set()
    for look, signs in zip(looks, seen, strict=True):
        there = {(code, group) for code, group, _, _ in signs}
        for place in there:
            first.setdefault(place, look.at_ms)
            last[place] = look.at_ms
        came_again |= there & away
        away |= {place for place in first.keys() - there if not place[1] or place[1] in look.stored}
    return {place for place in came_again if last[place] - first[place] >= 1000 * SETTLES_S}
