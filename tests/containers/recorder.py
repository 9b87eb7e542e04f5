"""What workers report: their events and their deaths."""

from __future__ import annotations

from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.workers.worker_events import WorkerEvent


class Recorder:
    """All that the callbacks got, in order."""

    def __init__(self) -> None:
        self.events: list[WorkerEvent] = []
        self.deaths: list[tuple[str, str, Trouble]] = []

    def on_event(self, event: WorkerEvent) -> None:
        self.events.append(event)

    def on_death(self, *death: object) -> None:
        self.deaths.append(death)  # type: ignore[arg-type]

    @property
    def numbers(self) -> list[int]:
        return [event.data["number"] for event in self.events if event.kind == "numbered"]
