"""`reply-refused`: replies of listeners that did not reach the producer, and what RocketMQ said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.refusal import Refused, refusal_text
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.messages import Replied
from rocketchaos.harness.core.events.messages import ReplyRefused as Refusal
from rocketchaos.harness.language.words import Target

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class ReplyRefused(Count, Refused):
    """The number of replies of these listeners that were refused, and that got this answer.

    A listener with `behaviour: {reply: true}` replies to each message that doesn't fail. A broker refuses a reply
    to a message that is no request, and one that it can't hand over to the producer; both with code 1. What the
    listener returns doesn't change by that.
    """

    word = "reply-refused"
    example = "reply-refused: {to: a, count: 4, because: push reply message}"

    to: Target = Field(description="whose listeners: a consumer, a group, or a variable")

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        who = scenario.named(self.to)
        if not any(scenario.consumers[name].behaviour.reply for name in who):
            yield f"no listener of {self.to} has `behaviour: {{reply: true}}`: none replies"

    def title(self) -> str:
        return f"replies of {self.to} refused"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('reply', 'replies')} {self.stated}"
        end, consumers = view.end_of(self.at), view.consumers(self.to)
        if end is None or consumers is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made, or names no member")
        refused = [event for event in view.of_kind(Refusal, until=end) if event.node in consumers]
        sent = [event for event in view.of_kind(Replied, until=end) if event.node in consumers]
        if not refused and not sent:
            return Answer(None, expected, f"no listener of {self.to} has replied")
        fitting = self.fitting(refused)
        observed = f"{len(fitting)} of {len(refused) + len(sent)}"
        if shown := (fitting or refused)[:1]:
            observed += f": {refusal_text(shown[0].body.error, shown[0].body.code)}"
        return Answer(self.fits(len(fitting)), expected, observed, [event.n for event in fitting or refused])
