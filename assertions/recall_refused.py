"""`recall-refused`: delayed messages that a producer could not take back, and what RocketMQ said."""

from pydantic import Field

from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.refusal import Refused, refusal_text
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import Recalled
from rocketchaos.harness.core.events.messages import RecallRefused as Refusal
from rocketchaos.harness.language.words import TopicName


class RecallRefused(Count, Refused):
    """The number of messages of a topic whose `recall` was refused with this answer; it needs `may_be_refused`.

    A recall that a broker accepts says nothing about the message: `delivered` tells whether it came anyway.
    """

    word = "recall-refused"
    example = "recall-refused: {topic: orders, count: 1, because: operation is forbidden}"

    topic: TopicName = Field(description="the topic")

    def title(self) -> str:
        return f"recalls of {self.topic} refused"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('recall')} {self.stated}"
        end = view.end_of(self.at)
        if end is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        refused = [event for event in view.of_kind(Refusal, until=end) if event.body.topic == self.topic]
        accepted = [event for event in view.of_kind(Recalled, until=end) if event.body.topic == self.topic]
        if not refused and not accepted:
            return Answer(None, expected, f"no message of {self.topic} was to be taken back")
        fitting = self.fitting(refused)
        observed = f"{len(fitting)} of {len(refused) + len(accepted)}"
        if shown := (fitting or refused)[:1]:
            observed += f": {refusal_text(shown[0].body.error, shown[0].body.code)}"
        proof = [event.n for event in fitting or refused or accepted]
        return Answer(self.fits(len(fitting)), expected, observed, proof)
