"""`consumer-status`: the answer of RocketMQ's own detection of a mismatch."""

from pydantic import Field

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import ConsumerStatusObserved
from rocketchaos.harness.language.words import GroupName


class ConsumerStatus(Check):
    """`mqadmin consumerStatus -g GROUP` finds the members' subscriptions alike, or different.

    It asks every member for its subscriptions (307) and compares them
    (`ConsumerRunningInfo.analyzeSubscription`, by the tools of the brokers' version); if they differ it
    prints `WARN: Different subscription in the same group of consumer!!!`. Until a member has run for two
    minutes, it always calls them alike.
    """

    word = "consumer-status"
    example = "consumer-status: {group: g, alike: false}"

    group: GroupName = Field(description="the group")
    alike: bool = Field(description="whether it finds the subscriptions alike")

    def title(self) -> str:
        return f"consumerStatus of {self.group}"

    def evaluate(self, view: RunView) -> Answer:
        expected = "alike" if self.alike else "different"
        events = view.observed(ConsumerStatusObserved, self.at, group=self.group)
        if not events:
            return Answer(None, expected, f"it was not asked at `{self.at}`")
        body = events[-1].body
        observed = "alike" if body.alike else "different"
        if not body.members:
            return Answer(None, expected, f"{self.group} had no member to compare", [events[-1].n])
        text = f"{observed}; of {', '.join(body.members)}"
        return Answer(body.alike is self.alike, expected, text, [events[-1].n])
