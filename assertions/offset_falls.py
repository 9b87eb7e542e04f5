"""`offset-falls`: how often a group's stored offset ran back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.chosen import of_none
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import OffsetsObserved
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.language.words import GroupName, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class Fall:
    """Two consecutive looks at one queue. The later one shows a smaller stored offset."""

    topic: str
    queue: str
    """`broker-a:0`."""
    before: Event
    after: Event
    high: int
    low: int


class OffsetFalls(Count):
    """How often the group's stored offset of a queue was smaller than at the look before.

    The cause doesn't matter: a reset, a broker that died before a flush, a former owner that stored its own
    offset late. Observations, and conditions that wait for offsets, take the looks; a change back and forth
    between two looks is missed.
    """

    word = "offset-falls"
    example = "offset-falls: {group: g, topic: orders, count: 0}"

    group: GroupName = Field(description="the group")
    topic: TopicName | None = Field(default=None, description="only the queues of this topic")

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        if not scenario.sends_unseen:
            yield from of_none(scenario, self.topic)

    def title(self) -> str:
        return f"falls of {self.group}'s offsets"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('fall')} of a stored offset"
        at = view.end_of(self.at)
        if at is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        observations = [
            observation
            for observation in _observations(view, self.group, at)
            if self.topic in (None, observation.body.topic)
        ]
        if not observations:
            return Answer(None, expected, f"no offsets of {self.group} were observed")
        if not any(_can_fall(observation) for observation in observations):
            return Answer(
                None, expected, f"{self.group} had no stored offset above 0, that could have run back"
            )
        falls = [fall for fall in falls_of(view, self.group, at) if self.topic in (None, fall.topic)]
        texts = [f"{fall.queue} of {fall.topic} from {fall.high} to {fall.low}" for fall in falls]
        proof = [number for fall in falls for number in (fall.before.n, fall.after.n)]
        observed = f"{len(falls)} falls in {len(observations)} looks" + (
            f": {'; '.join(texts[:5])}" if texts else ""
        )
        return Answer(
            self.fits(len(falls)),
            expected,
            observed,
            proof or [observation.n for observation in observations],
        )


def falls_of(view: RunView, group: str, at: int) -> Iterator[Fall]:
    """Every fall that was seen by event `at`, in order."""
    last: dict[tuple[str, str], tuple[int, Event[OffsetsObserved]]] = {}
    for event in _observations(view, group, at):
        for queue in event.body.queues:
            where = event.body.topic, queue.name
            offset = queue.consumer_offset
            if offset is None:
                continue  # not stored, or not to be read: no offset at all
            if where in last and offset < last[where][0]:
                yield Fall(*where, last[where][1], event, last[where][0], offset)
            last[where] = offset, event


def _can_fall(observation: Event[OffsetsObserved]) -> bool:
    """Whether it shows a stored offset that isn't the least."""
    return any(queue.consumer_offset for queue in observation.body.queues)


def _observations(view: RunView, group: str, at: int) -> list[Event[OffsetsObserved]]:
    return [event for event in view.of_kind(OffsetsObserved, until=at) if event.body.group == group]
