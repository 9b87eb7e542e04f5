"""Brokers, topics and groups are changed while they are in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import MemberOperation, NodeOperation

if TYPE_CHECKING:
    from rocketchaos.harness.nightly.draft import Draft, Step

_SETTINGS: tuple[dict[str, bool | int], ...] = (
    {"longPollingEnable": True},
    {"shortPollingTimeMills": 1000},
    {"maxTransferCountOnMessageInMemory": 2},
    {"notifyConsumerIdsChangedEnable": False},
)
"""What brokers read at each use (`BrokerConfig`, `MessageStoreConfig`; 4.9.4), and what loses no message."""


class Configure(NodeOperation):
    """UPDATE_BROKER_CONFIG."""

    name = "configure-broker"
    meaning = "a setting of the running brokers is changed"

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        settings = dict(draft.rng.choice(_SETTINGS))
        draft.story.append(f"{next(iter(settings))} is changed")
        return [{"broker-config": {"set": settings}}]


MORE = 2


class Grow(MemberOperation):
    """`mqadmin updateTopic` with more queues. Clients learn of them when they next ask for the route."""

    name = "grow"
    meaning = "a topic gets two more queues on each broker"
    weight = 1.0

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(draft.running(group))

    def play(self, draft: Draft, group: str) -> list[Step]:
        del group
        topic = draft.rng.choice(sorted(draft.topics))
        draft.grown[topic] = draft.grown.get(topic, draft.topics[topic]) + MORE
        settings = {"readQueueNums": draft.grown[topic], "writeQueueNums": draft.grown[topic]}
        draft.story.append(f"{topic} gets {MORE} more queues")
        return [{"topic-config": {"topic": topic, "set": settings}}]


class DeleteGroup(MemberOperation):
    """DELETE_SUBSCRIPTIONGROUP, without its offsets, so that it goes on where it was.

    Its retry topic goes too, with what waits in it: where a member ever fails, or pops, messages would be lost by
    the deletion itself, which the oracle could not tell from a loss.
    """

    name = "delete-group"
    meaning = "a group that retries nothing is deleted, and its running members create it again"
    weight = 0.5

    def possible(self, draft: Draft, group: str) -> bool:
        return bool(draft.running(group)) and all(
            "fail" not in member.fields.get("behaviour", {}) and member.fields.get("api", "push") != "pop"
            for member in draft.of(group)
        )

    def play(self, draft: Draft, group: str) -> list[Step]:
        draft.story.append(f"{group} is deleted, and created again")
        return [{"delete-group": group}]
