"""`dead-letter`: how many messages a group has given up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from rocketchaos.assertions.attempts import dead_letters, first_attempts_to_come, retries_to_come
from rocketchaos.assertions.base import Answer, CountSoFar
from rocketchaos.assertions.chosen import of_none
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.language.words import GroupName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class DeadLetter(CountSoFar):
    """The number of messages in the group's dead-letter queue, `%DLQ%<group>`, by its end on all brokers.

    A message goes there when its listener fails once more than `max_reconsume_times`; with a gRPC client, once
    more than the `retryMaxTimes` of its group.
    """

    word = "dead-letter"
    example = "dead-letter: {group: g, count: 1}"

    group: GroupName = Field(description="the group")

    def problems(self, scenario: Scenario) -> Iterator[str]:
        if self.asks_for_some:
            yield from never_gives_up(scenario, self.group)

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        if not self.asks_for_some:
            yield from of_none(scenario, None)

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        sent = scenario.most_sent()
        if self.asks_for_more(sent):
            yield f"{self.how_many('dead letter')}: the steps send {sent} messages"

    def title(self) -> str:
        return f"dead letters of {self.group}"

    def evaluate(self, view: RunView) -> Answer:
        expected = f"{self.how_many('message')} in %DLQ%{self.group}"
        at, event = view.end_of(self.at), dead_letters(view, self.group, self.at)
        if at is None or event is None:
            return Answer(None, expected, f"no dead letters were observed at `{self.at}`")
        number = event.body.count
        observed = f"{number} messages"
        if (
            number == 0
            and self.fits(0)
            and not any(
                message.topic in view.own_subscriptions.topics(member, at)
                for message in view.sent_until(at)
                for member in view.scenario.members(self.group)
            )
        ):
            return Answer(None, expected, "no message was sent that could have been given up", [event.n])
        if not self.so_far and not self.is_final(number):
            unsure = retries_to_come(view, self.group, self.at, at) or first_attempts_to_come(
                view, self.group, at
            )
            if unsure is not None:
                return Answer(None, expected, f"{observed}; {unsure}", [event.n], too_early=unsure)
        return Answer(self.fits(number), expected, observed, [event.n])


def never_gives_up(scenario: Scenario, group: str) -> Iterator[str]:
    """A problem where no member of a group can have dead letters."""
    members = [scenario.consumers[name] for name in scenario.members(group)]
    if members and not any(member.gives_up for member in members):
        yield f"{group} gives nothing up: broadcasting and lite pull have no dead letters"
