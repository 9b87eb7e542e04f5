"""`same-client`: consumers that are one client to the broker."""

from pydantic import Field

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.observed import SubscriptionObserved
from rocketchaos.harness.language.words import GroupName, OneOrMore


class SameClient(Check):
    """These groups have the same client: the same client id, over the same connection.

    The brokers must know exactly one consumer of each group. Two connections are two clients, even with the
    same id; `same: false` states that ids and connections all differ.
    """

    word = "same-client"
    example = "same-client: {groups: [g, h]}"

    groups: OneOrMore[GroupName] = Field(description="the groups, each with one consumer")
    same: bool = Field(default=True, description="whether it is one client")

    def title(self) -> str:
        return f"client of {', '.join(self.groups)}"

    def evaluate(self, view: RunView) -> Answer:
        expected = "one client id, one connection" if self.same else "as many clients as groups"
        events = [
            event
            for group in self.groups
            for event in view.observed(SubscriptionObserved, self.at, group=group)
        ]
        if {event.body.group for event in events} != set(self.groups):
            return Answer(None, expected, f"not every group was observed at `{self.at}`")
        observed = "; ".join(
            f"{event.body.group} has {', '.join(event.body.clients) or 'nobody'} at "
            f"{', '.join(event.body.addresses or ()) or 'no address'}"
            for event in events
        )
        proof = [event.n for event in events]
        if any(len(event.body.clients) != 1 for event in events):
            return Answer(None, expected, observed, proof)
        ids = {event.body.clients[0] for event in events}
        addresses = {(event.body.addresses or ("no address",))[0] for event in events}
        if self.same:
            return Answer(len(ids) == len(addresses) == 1, expected, observed, proof)
        return Answer(len(ids) == len(addresses) == len(events), expected, observed, proof)
