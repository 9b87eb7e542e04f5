"""`track-series`: what RocketMQ's own tools said became of the messages, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.chosen import chosen_messages, of_none, owner_elsewhere
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import TracksObserved
from rocketchaos.harness.language.words import ConsumerRef, GroupName, OneOrList, TagRef, TopicName
from rocketchaos.harness.rocketmq.track_type import TrackType

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario

_MOST = 4
"""The limit of different courses shown."""


class TrackSeries(Check):
    """Every message of the topic went through exactly these TrackTypes for the group, in this order.

    With this check the run reads the tracks continuously, not only at its observations. A short state may be
    missed: if a part of the sequence was not seen, but nothing else was, the answer is unknown.
    """

    word = "track-series"
    example = "track-series: {group: g, topic: orders, sequence: [NOT_CONSUME_YET, CONSUMED]}"

    group: GroupName = Field(description="the group")
    topic: TopicName = Field(description="the topic")
    sequence: Annotated[tuple[TrackType, ...], Field(min_length=1), OneOrList()] = Field(
        description="the TrackTypes in order, each different from the one before it"
    )
    tag: TagRef | None = Field(default=None, description="only messages of this tag")
    queues_of: ConsumerRef | None = Field(
        default=None, description="only messages in the queues that this consumer owned when last seen"
    )

    @field_validator("sequence")
    @classmethod
    def _each_another(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(item == other for item, other in pairwise(value)):
            raise ValueError("each TrackType must be another than the one before it")
        return value

    def problems(self, scenario: Scenario) -> Iterator[str]:
        yield from owner_elsewhere(scenario, self.group, self.queues_of)

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        yield from of_none(scenario, self.topic, self.tag)

    def title(self) -> str:
        return f"tracks of {self.topic} for {self.group} over time"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"all {_in_words(self.sequence)}"
        messages = chosen_messages(view, self.at, self.topic, self.tag, self.queues_of)
        if isinstance(messages, str):
            return Answer(None, expected, messages)
        series: dict[str, list[str]] = {message.key: [] for message in messages}
        proof = []
        for event in view.of_kind(TracksObserved, until=view.end_of(self.at)):
            own = series.get(event.body.key)
            track = event.body.tracks.get(self.group)
            if own is not None and track is not None and own[-1:] != [track]:
                own.append(track)
                proof.append(event.n)
        found = Counter(_in_words(own) for own in series.values())
        observed = ", ".join(f"{number} {text}" for text, number in found.most_common(_MOST))
        if len(found) > _MOST:
            observed += f", and {len(found) - _MOST} other courses"
        if any(not _is_part(own, self.sequence) for own in series.values()):
            return Answer(False, expected, observed, proof)
        missed = sum(1 for own in series.values() if len(own) < len(self.sequence))
        if missed:
            return Answer(None, expected, f"{observed}; of {missed} messages not everything was seen", proof)
        return Answer(True, expected, observed, proof)


def _in_words(series: Sequence[str]) -> str:
    return " then ".join(series) or "never observed"


def _is_part(own: Sequence[str], sequence: Sequence[str]) -> bool:
    """Whether `own` is `sequence` with some left out."""
    rest = iter(sequence)
    return all(any(text == other for other in rest) for text in own)
