"""`track`: what RocketMQ's own tools say became of the messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.chosen import chosen_messages, of_none, owner_elsewhere
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import TracksObserved
from rocketchaos.harness.language.words import ConsumerRef, GroupName, TagRef, TopicName
from rocketchaos.harness.rocketmq.track_type import TrackType

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


NO_TRACK = "no track of the group"


class Track(Check):
    """Every message of the topic has this TrackType for the group, by `DefaultMQAdminExt.messageTrackDetail`.

    The dashboard shows it too. CONSUMED means that the group's offset has passed the message and the stored
    tags include its tag; it says nothing about a listener. CONSUMED_BUT_FILTERED: the offset has passed it,
    and the tags stored now don't include its tag. NOT_CONSUME_YET: the offset hasn't passed it. NOT_ONLINE:
    the group has no member, or (4.9.x) no offsets. PULL: members are pull consumers, as lite pull consumers
    are. CONSUME_BROADCASTING: a broadcasting group, by tools of 5.x. UNKNOWN: the tools could not ask.
    """

    word = "track"
    example = "track: {group: g, topic: orders, all: CONSUMED}"

    group: GroupName = Field(description="the group")
    topic: TopicName = Field(description="the topic")
    all: TrackType | None = Field(default=None, description="the TrackType of every message")
    absent: bool = Field(
        default=False, description="true: the tools report none of the group for any message"
    )
    tag: TagRef | None = Field(default=None, description="only messages of this tag")
    queues_of: ConsumerRef | None = Field(
        default=None, description="only messages in the queues that this consumer owned when last seen"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Track:
        if (self.all is None) != self.absent:
            raise ValueError("give exactly one of `all` and `absent: true`")
        return self

    def problems(self, scenario: Scenario) -> Iterator[str]:
        yield from owner_elsewhere(scenario, self.group, self.queues_of)

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        yield from of_none(scenario, self.topic, self.tag)

    def title(self) -> str:
        return f"tracks of {self.topic} for {self.group}"

    def evaluate(self, view: RunView) -> Answer:
        wanted = self.all or NO_TRACK
        expected = f"all {wanted}"
        messages = chosen_messages(view, self.at, self.topic, self.tag, self.queues_of)
        if isinstance(messages, str):
            return Answer(None, expected, messages)
        events = {event.body.key: event for event in view.observed(TracksObserved, self.at, topic=self.topic)}
        found = Counter(
            events[message.key].body.tracks.get(self.group, NO_TRACK)
            if message.key in events
            else "not observed"
            for message in messages
        )
        observed = ", ".join(f"{number} {name}" for name, number in found.most_common())
        proof = [events[message.key].n for message in messages if message.key in events]
        if "not observed" in found:
            return Answer(None, expected, observed, proof)
        return Answer(set(found) == {wanted}, expected, observed, proof)
