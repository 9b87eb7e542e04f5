"""Events of a worker whose kernel isn't this host's have this host's time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rocketchaos.harness.workers.foreign_clock import ForeignClock
from rocketchaos.harness.workers.on_host import LocalProgram, OnHost
from rocketchaos.harness.workers.program import WorkerPlan
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent
from rocketchaos.harness.workers.worker_kinds import WorkerKind

CHILDREN = Path(__file__).parent / "children"
LIMIT_S = 10.0
MS = 1_000_000


def test_what_was_stamped_between_question_and_answer_lies_between_them() -> None:
    clock = ForeignClock.measured(sent_ns=100 * MS, stamped_ns=7 * MS, received_ns=104 * MS)
    assert clock == ForeignClock(behind_ns=95 * MS, uncertainty_ns=2 * MS)
    ahead = ForeignClock.measured(sent_ns=100 * MS, stamped_ns=900 * MS, received_ns=104 * MS)
    assert ahead.behind_ns == -798 * MS


def test_wall_time_is_this_hosts_too() -> None:
    clock = ForeignClock(behind_ns=10**15, uncertainty_ns=0)
    now_ns = time.monotonic_ns()
    event = clock.here(WorkerEvent("b", now_ns - 10**15 - 5000 * MS, 0, "x", {}))
    assert event.mono_ns == now_ns - 5000 * MS
    assert event.wall_ms == pytest.approx(time.time() * 1000 - 5000, abs=100)


class Elsewhere(OnHost):
    """As if it were in a VM."""

    def launch(self, plan: WorkerPlan) -> LocalProgram:
        program = super().launch(plan)
        program.foreign_clock = True
        return program


def test_a_workers_clock_is_found_before_anything_is_handed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(CHILDREN))
    events: list[WorkerEvent] = []
    began_ns = time.monotonic_ns()
    worker = Worker.spawn(
        WorkerKind("child", "worker_elsewhere", None),
        "b",
        home=Elsewhere("run-7"),
        log_folder=tmp_path,
        on_event=events.append,
        on_death=print,
    )
    try:
        # Before it is ready: it must be neither lost nor overtake `ready`.
        worker.request("emit", LIMIT_S, count=3, size=0)
        worker.wait_ready(LIMIT_S)
        before_ns = time.monotonic_ns()
        worker.request("emit", LIMIT_S, count=1, size=0)
        after_ns = time.monotonic_ns()
    finally:
        worker.release()
    assert [event.kind for event in events] == ["ready"] + ["numbered"] * 4
    uncertainty_ns = events[0].data["clock_uncertainty_ms"] * MS
    assert 0 <= uncertainty_ns < 1000 * MS
    assert began_ns < events[0].mono_ns < before_ns + uncertainty_ns
    assert before_ns - uncertainty_ns <= events[-1].mono_ns <= after_ns + uncertainty_ns
    assert [event.mono_ns for event in events] == sorted(event.mono_ns for event in events)
