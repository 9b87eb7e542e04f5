"""`notified`: how often brokers notified a hand-made client."""

from typing import Annotated

from pydantic import Field

from rocketchaos.assertions.base import Answer, Count
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.events.clients import HeartbeatSent
from rocketchaos.harness.core.events.clients import Notified as NotifiedEvent
from rocketchaos.harness.language.words import GroupName, MomentName, Refers


class Notified(Count):
    """How often brokers notified a hand-made client that its group has changed.

    The notification is NOTIFY_CONSUMER_IDS_CHANGED (40); a real client rebalances at once when it gets one.
    """

    word = "notified"
    example = "notified: {client: h1, since: before, count: 0}"

    client: Annotated[str, Refers(("hand-made",))] = Field(
        description="the client, by its name in `heartbeat`"
    )
    group: GroupName | None = Field(default=None, description="only of this group")
    since: MomentName | None = Field(default=None, description="only those after this observation")

    def title(self) -> str:
        return f"notifications of {self.client}"

    def evaluate(self, view: RunView) -> Answer:
        expected = self.how_many("notification")
        end = view.end_of(self.at)
        begin = 0 if self.since is None else view.end_of(self.since)
        if end is None or begin is None:
            missing = self.at if end is None else self.since
            return Answer(None, expected, f"the observation `{missing}` was not made")
        if not any(event.node == self.client for event in view.of_kind(HeartbeatSent, until=end)):
            return Answer(None, expected, f"{self.client} sent no heartbeat until `{self.at}`")
        notifications = [
            event
            for event in view.of_kind(NotifiedEvent, until=end)
            if event.node == self.client and event.n > begin and self.group in (None, event.body.group)
        ]
        return Answer(
            self.fits(len(notifications)),
            expected,
            f"{len(notifications)} notifications",
            [event.n for event in notifications] or [end],
        )
