"""`stall`: who can be stalled when, what proves it, and that nothing stays stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest

from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.history import History
from rocketchaos.harness.faults.base import Faults
from rocketchaos.harness.language.fault_registry import FAULT_KINDS, PROCESS_FAULTS
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.steps import STEPS
from rocketchaos.harness.steps.context import StepContext
from tests.unit.scenario.examples import scenario_text
from tests.waiting import until

SEND = "send: {topic: orders, tag: tagA, count: 1}"
START = "start: [a, b, c]"
LIMIT_S = 5.0


@pytest.mark.parametrize(
    "steps",
    [
        ("stall: a", "resume: a", "stall: a", "kill: a", "start: a"),
        ("stall: {targets: [a, broker-a], stopped: 200ms, running: 50ms}", "resume: [a, broker-a]"),
        ("stall: producer", SEND, "resume: producer"),
    ],
)
def test_who_runs_can_be_stalled_and_who_is_stalled_goes_on_or_is_killed(steps: tuple[str, ...]) -> None:
    parse_scenario(scenario_text(START, *steps), "s.yaml")


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (("pause: a", "stall: a"), "a is paused since line 10; it must be running"),
        (("stall: a", "stall: a"), "a is stalled since line 10; it must be running"),
        (("stall: a", "pause: a"), "a is stalled since line 10; it must be running"),
        (("stall: {targets: a, stopped: 10ms}",), "`stopped` must be at least 0.02s, not 10ms"),
    ],
)
def test_what_is_impossible_is_refused(steps: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidScenario) as refused:
        parse_scenario(scenario_text(START, *steps), "s.yaml")
    assert message in str(refused.value)


def test_what_is_in_a_container_is_refused_and_a_server_needs_a_cluster_that_can() -> None:
    text = scenario_text(START, "stall: a")
    with pytest.raises(InvalidScenario, match="leave `workers: containers` out"):
        parse_scenario(text.replace("topics:", "workers: containers\ntopics:"), "s.yaml")
    scenario = parse_scenario(scenario_text(START, "stall: broker-a"), "s.yaml")
    assert scenario.required_capabilities == {"stall"}


def test_every_fault_of_processes_has_a_step_made_from_its_registration() -> None:
    for word, kind in PROCESS_FAULTS.items():
        assert STEPS[word].example == kind.example
        assert set(kind.undone_by) <= set(STEPS)
    assert all(kind.shown and kind.word in STEPS for kind in FAULT_KINDS.values())


def process_of(code: str) -> Iterator[subprocess.Popen[bytes]]:
    # A client has a process group of its own.
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    yield from process_of("while True: pass")


@pytest.fixture
def ticking() -> Iterator[subprocess.Popen[bytes]]:
    """It makes progress all the time, and leaves the processor to other tests."""
    yield from process_of("import time\nwhile True: time.sleep(0.005)")


def context_of(process: subprocess.Popen[bytes], history: History) -> StepContext:
    client = SimpleNamespace(
        pid=process.pid,
        container=None,
        where=f"process {process.pid}",
        alive=True,
    )
    context = SimpleNamespace(
        variables=SimpleNamespace(resolve=list),
        members=SimpleNamespace(client=lambda _: client),
        servers=SimpleNamespace(is_node=lambda _: False),
        consumers={},
        faults=Faults(history),
    )
    return cast(StepContext, context)


def stall(context: StepContext, **options: int) -> None:
    STEPS["stall"].model_construct(targets=("a",), **{"stopped": 80, "running": 20, **options}).run(context)


def resume(context: StepContext) -> None:
    STEPS["resume"].model_construct(targets=("a",)).run(context)


def goes_on(pid: int) -> bool:
    """Whether it is not stopped for longer than any burst."""
    looks = []
    for _ in range(30):
        looks.append(psutil.Process(pid).status() != psutil.STATUS_STOPPED)
        time.sleep(0.01)  # between two samples
    return all(looks)


def test_a_stalled_process_makes_so_much_progress_as_it_may_and_goes_on_when_it_is_resumed(
    busy: subprocess.Popen[bytes],
) -> None:
    history = History("run")
    context = context_of(busy, history)
    stall(context)
    before = psutil.Process(busy.pid).cpu_times().user
    began = time.monotonic()
    time.sleep(1)  # its share of the processor is measured over this time: no condition is awaited
    share = (psutil.Process(busy.pid).cpu_times().user - before) / (time.monotonic() - began)
    assert share < 0.45  # it would take a whole processor, and may have a fifth
    resume(context)
    assert goes_on(busy.pid)
    assert [event.kind for event in history.events] == ["fault-injected", "fault-effective", "fault-healed"]
    assert "stands still in" in history.events[1].data["proof"]
    assert history.events[2].data["proof"] == f"process {busy.pid} of a goes on"


def test_a_stall_without_effect_is_reported(
    ticking: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketchaos.harness.faults.stall._LIMIT_S", 0.2)
    monkeypatch.setattr(
        "rocketchaos.harness.faults.stall._BURSTS",
        "import sys\nprint('ready', flush=True)\nsys.stdin.read()\n",
    )
    context = context_of(ticking, History("run"))
    with pytest.raises(PreconditionNotMet, match=r"stands still in 0% of \d+ looks; at least 60% are needed"):
        stall(context)
    resume(context)


def test_it_goes_on_though_whoever_makes_the_bursts_was_killed_in_the_midst_of_one(
    ticking: subprocess.Popen[bytes],
) -> None:
    context = context_of(ticking, History("run"))
    stall(context, stopped=200, running=5)
    bursts: Any = context.faults.active()["stall a"]
    until(lambda: psutil.Process(ticking.pid).status() == psutil.STATUS_STOPPED, LIMIT_S)
    bursts._bursts.kill()
    resume(context)
    assert goes_on(ticking.pid)


HARNESS = """
    import sys, time
    from tests.unit.steps.test_stall import context_of, stall
    from rocketchaos.harness.core.history import History
    from types import SimpleNamespace
    stall(context_of(SimpleNamespace(pid=int(sys.argv[1])), History("run")), stopped=200, running=5)
    print("stalled", flush=True)
    time.sleep(60)
"""


def test_a_harness_that_is_killed_in_the_midst_of_a_burst_leaves_nothing_stopped(
    ticking: subprocess.Popen[bytes],
) -> None:
    harness = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HARNESS), str(ticking.pid)],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
        stdout=subprocess.PIPE,
    )
    assert harness.stdout is not None
    assert harness.stdout.readline() == b"stalled\n"
    bursts = psutil.Process(harness.pid).children()
    until(lambda: psutil.Process(ticking.pid).status() == psutil.STATUS_STOPPED, LIMIT_S)
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdout.close()
    until(lambda: psutil.Process(ticking.pid).status() != psutil.STATUS_STOPPED, LIMIT_S)
    assert goes_on(ticking.pid)
    assert not psutil.wait_procs(bursts, timeout=LIMIT_S)[1]


def test_who_is_killed_meanwhile_ends_the_stall_and_can_be_stalled_again(
    ticking: subprocess.Popen[bytes],
) -> None:
    context = context_of(ticking, History("run"))
    stall(context)
    ticking.kill()
    ticking.wait()
    context.members.client("a").alive = False  # type: ignore[misc]
    until(lambda: context.faults.active()["stall a"].is_past, LIMIT_S)
    resume(context)
    assert context.faults.active() == {}
