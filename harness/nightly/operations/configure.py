"""The configuration of brokers that run is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketchaos.harness.nightly.operations.base import NodeOperation

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
