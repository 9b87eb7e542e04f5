"""Where the three witnesses diverge: what listeners got, what the offsets say, what the dashboard shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.model import MessageClass, MessageFate
from harness.reporters.base import Report
from harness.reporters.parts.text import counted

_HANDLED = frozenset((MessageClass.DELIVERED, MessageClass.IN_RETRY, MessageClass.DEAD_LETTER))
_PASSED = frozenset((MessageClass.FILTERED_BY_BROKER, MessageClass.FILTERED_BY_CLIENT, MessageClass.LOST))


def divergences(run: Report) -> list[str]:
    """One sentence for each way in which the broker's word and the listeners' differ."""
    return [text for group in run.scenario.groups for text in (*_tracks(run, group), *_offsets(run, group))]


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


def _tracks(run: Report, group: str) -> Iterator[str]:
    tracks = last_tracks(run)
    unheard, heard = Counter[str](), Counter[str]()
    for fate in _of_group(run, group):
        shown = tracks.get((group, fate.key), "")
        (heard if fate.message_class in _HANDLED else unheard)[shown] += 1
    if unheard["CONSUMED"]:
        yield (
            f"The dashboard shows CONSUMED for {counted(unheard['CONSUMED'], 'message')} of group {group} that no "
            "listener got: CONSUMED says that the offset passed, not that anybody handled it."
        )
    for track in ("CONSUMED_BUT_FILTERED", "NOT_CONSUME_YET"):
        if heard[track]:
            yield (
                f"The dashboard shows {track} for {counted(heard[track], 'message')} of group {group} that a "
                "listener got: it judges old messages by the subscription and the offsets of now."
            )


def _offsets(run: Report, group: str) -> Iterator[str]:
    passed = [fate for fate in _of_group(run, group) if fate.message_class in _PASSED]
    if passed:
        yield (
            f"The offsets of group {group} have passed {counted(len(passed), 'message')} that no listener got: "
            "in a lag graph they look consumed."
        )
