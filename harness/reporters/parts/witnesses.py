"""Where the three witnesses diverge: what listeners got, what the offsets say, what the dashboard shows."""

from __future__ import annotations

from collections import Counter

from harness.model import MessageClass, MessageFate
from harness.reporters.base import Report
from harness.reporters.parts.text import counted

_HANDLED = frozenset((MessageClass.DELIVERED, MessageClass.IN_RETRY))
_PASSED = frozenset(
    (MessageClass.FILTERED_BY_BROKER, MessageClass.FILTERED_BY_CLIENT, MessageClass.LOST)
)


def divergences(run: Report) -> list[str]:
    """One sentence for each way in which the broker's word and the listeners' differ."""
    return [
        *(_tracks(run, group) for group in run.scenario.groups if _tracks(run, group)),
        *(_offsets(run, group) for group in run.scenario.groups if _offsets(run, group)),
    ]


def _of_group(run: Report, group: str) -> list[MessageFate]:
    return [fate for fate in run.outcome.messages if fate.group == group]


def last_tracks(run: Report) -> dict[tuple[str, str], str]:
    """By group and key: the TrackType that the dashboard would show, as it was seen last."""
    return {
        (group, str(event.data["key"])): str(track)
        for event in run.events
        if event.kind == "tracks-observed"
        for group, track in event.data["tracks"].items()
    }


def _tracks(run: Report, group: str) -> str:
    tracks = last_tracks(run)
    shown = Counter(
        tracks.get((group, fate.key)) for fate in _of_group(run, group) if fate.message_class not in _HANDLED
    )
    unheard = shown["CONSUMED"]
    if not unheard:
        return ""
    return (
        f"The dashboard shows CONSUMED for {counted(unheard, 'message')} of group {group} that no listener got: "
        "CONSUMED says that the offset passed, not that anybody handled it."
    )


def _offsets(run: Report, group: str) -> str:
    passed = [fate for fate in _of_group(run, group) if fate.message_class in _PASSED]
    if not passed:
        return ""
    return (
        f"The offsets of group {group} have passed {counted(len(passed), 'message')} that no listener got: "
        "in a lag graph they look consumed."
    )
