"""`send-refused`: messages that were not acknowledged, and what RocketMQ said."""

from pydantic import Field

from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.refusal import Refused, refusal_text
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import SendAccepted, SendFailed, Sent
from rocketchaos.harness.language.words import TopicName


class SendRefused(Count, Refused):
    """The number of messages of a topic that were not acknowledged, and that got this answer.

    The answer comes from a broker (`MQBrokerException`, with its code) or from the producer's client
    (`MQClientException`). Messages with another answer don't count. The `send` needs `may_fail`, or the first
    refusal ends the run.
    """

    word = "send-refused"
    example = "send-refused: {topic: orders, count: 8, code: 16, exception: MQBrokerException}"

    topic: TopicName = Field(description="the topic")

    def title(self) -> str:
        return f"sending to {self.topic} refused"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('message')} {self.stated}"
        end = view.end_of(self.at)
        if end is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        failed = [event for event in view.of_kind(SendFailed, until=end) if event.body.topic == self.topic]
        taken = (event for kind in (Sent, SendAccepted) for event in view.of_kind(kind, until=end))
        if not failed and not any(event.body.topic == self.topic for event in taken):
            return Answer(None, expected, f"no message of {self.topic} was sent")
        fitting = self.fitting(failed)
        others = [event for event in failed if event not in fitting]
        observed = f"{len(fitting)} of {len(failed)} that were not acknowledged"
        if shown := (fitting or others)[:1]:
            observed += f": {refusal_text(shown[0].body.error, shown[0].body.code)}"
        return Answer(self.fits(len(fitting)), expected, observed, [event.n for event in fitting or others])
