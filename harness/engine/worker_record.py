"""What workers saw, written into the history with the scenario's names."""

from rocketchaos.harness.core.errors import HarnessDefect, RocketchaosError
from rocketchaos.harness.core.events.base import BrokenEvent
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.engine.health import Health
from rocketchaos.harness.workers.worker_events import WorkerEvent


def record_worker_event(
    worker: str, event: WorkerEvent, history: History, names: Names, health: Health
) -> None:
    """Write down what a worker saw, with the scenario's names. Called from its reader's thread."""
    data = {name: value for name, value in event.data.items() if name != "consumer"}
    if "topic" in data:
        data["topic"] = names.scenario(str(data["topic"]))
    try:
        written = history.append(worker, event.kind, data, mono_ns=event.mono_ns, wall_ms=event.wall_ms)
        written.body  # noqa: B018 - reads it, and keeps it
    except BrokenEvent as broken:
        health.note(HarnessDefect(f"the worker {worker} wrote a broken event: {broken}"))
    except RocketchaosError as error:
        health.note(error)
