"""`transaction-checked`: how often brokers asked the producer about its transactions."""

from typing import get_args

from pydantic import Field

from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import SendAccepted
from rocketchaos.harness.core.events.messages import TransactionChecked as Asked
from rocketchaos.harness.language.sending import TransactionState
from rocketchaos.harness.language.words import TopicName


class TransactionChecked(Count):
    """How often a broker asked the producer about a transaction that was neither committed nor rolled back.

    With `state` only the questions that got this answer. Brokers don't ask while no producer runs.
    """

    word = "transaction-checked"
    example = "transaction-checked: {topic: orders, at_least: 1, state: commit}"

    topic: TopicName = Field(description="the topic of the messages")
    state: TransactionState | None = Field(default=None, description="the answer; default any")

    def title(self) -> str:
        return f"transactions of {self.topic} asked about"

    def evaluate(self, view: RunView) -> Answer:
        expected = self.how_many("question") + (f" answered {self.state}" if self.state else "")
        end = view.end_of(self.at)
        if end is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        questions = [event for event in view.of_kind(Asked, until=end) if event.body.topic == self.topic]
        if not questions and not any(
            event.body.topic == self.topic and event.body.how in get_args(TransactionState)
            for event in view.of_kind(SendAccepted, until=end)
        ):
            return Answer(None, expected, f"no transaction of {self.topic} was begun")
        asked = [event for event in questions if self.state in (None, event.body.state)]
        keys = sorted({str(event.body.key) for event in asked})
        observed = f"{len(asked)} questions" + (f": {', '.join(keys[:5])}" if keys else "")
        return Answer(self.fits(len(asked)), expected, observed, [event.n for event in asked])
