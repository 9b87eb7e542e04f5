"""`terminate`: who can be terminated when, what proves it, and what the history tells of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.clients.consumer import Consumer
from rocketchaos.harness.clients.producer import Producer
from rocketchaos.harness.core.errors import HarnessDefect, PreconditionNotMet
from rocketchaos.harness.core.history import History
from rocketchaos.harness.faults.base import Faults
from rocketchaos.harness.rocketmq.timing_profiles import COMPRESSED
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.steps import STEPS
from rocketchaos.harness.steps.context import StepContext
from tests.unit.scenario.examples import scenario_text

SEND = "send: {topic: orders, tag: tagA, count: 1}"
START = "start: [a, b, c]"


def scenario(*steps: str) -> Any:
    return parse_scenario(scenario_text(*steps), "s.yaml")


@pytest.mark.parametrize(
    "steps",
    [
        ("terminate: a", "start: a", "terminate: [a, b]", "restart: [a, b]"),
        ("terminate: producer", "restart: producer", SEND, "terminate: producer"),
        (f"parallel: [[{{{SEND}}}], [{{terminate: producer}}]]",),
        ("repeat: {times: 2, steps: [terminate: a, start: a]}",),
    ],
)
def test_who_runs_can_be_terminated_and_comes_back(steps: tuple[str, ...]) -> None:
    assert len(scenario(START, *steps).steps) == 1 + len(steps)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (("pause: a", "terminate: a"), "a is paused since line 10; it must be running"),
        (("kill: a", "terminate: a"), "a was killed in line 10; it must be running"),
        (("terminate: a", "terminate: a"), "a was stopped in line 10; it must be running"),
        (
            ("terminate: producer", SEND),
            "the producer was stopped in line 10: `restart` or `resume` it before",
        ),
        (("terminate: broker-a",), "a server gets its SIGTERM by `stop`: write `stop: broker-a`"),
        (("terminate: [a, nameserver]",), "write `stop: nameserver`"),
    ],
)
def test_what_is_impossible_is_refused(steps: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidScenario) as refused:
        scenario(START, *steps)
    assert message in str(refused.value)


def test_nothing_that_it_does_to_clients_needs_a_cluster_of_its_own() -> None:
    assert scenario(START, "terminate: [a, producer]").required_capabilities == frozenset()


class Worker:
    """A process that does what it is told, or doesn't end."""

    process = "own"
    where = "process 7"
    pid = 7

    def __init__(self, history: History, *, ends: bool = True) -> None:
        self.history = history
        self.ends = ends
        self.alive = True
        self.returncode: int | None = None

    def wait_ready(self, limit_s: float) -> None:
        del limit_s

    def request(self, do: str, limit_s: float, /, **with_: Any) -> dict[str, Any]:
        del limit_s, with_
        if not self.alive:
            raise HarnessDefect(f"`{do}` of who has ended")
        return {"client_id": "a@r"}

    def terminate(self) -> None:
        self.history.append("worker", "sigterm")

    def wait_terminated(self, limit_s: float) -> None:
        if not self.ends:
            raise PreconditionNotMet(f"not within {limit_s:g} s; last seen: `received`")
        self.history.append("worker", "its last words")
        self.alive, self.returncode = False, 143


def consumer(history: History, workers: list[Worker]) -> Consumer:
    made = Consumer(
        "a",
        scenario(START).consumers["a"],
        history=history,
        timing=COMPRESSED,
        rocketmq="4.9.4",
        spawn=lambda *_: cast(Any, workers.pop(0)),
        real=str,
        servers=lambda: {"nameserver": "x:1"},
        instance="r",
        topics=(),
        queues=lambda _: (),
        set_request_mode=lambda *_: None,
    )
    made.start()
    return made


def terminate(history: History, client: Consumer | Producer) -> None:
    context = SimpleNamespace(
        variables=SimpleNamespace(resolve=list),
        members=SimpleNamespace(client=lambda _: client),
        faults=Faults(history),
    )
    terminate = STEPS["terminate"](targets=(client.name,))  # type: ignore[call-arg]
    terminate.run(cast(StepContext, context))


def kinds(history: History) -> list[str]:
    return [event.kind for event in history.events]


def test_a_member_leaves_in_good_order_and_is_another_process_when_it_comes_back() -> None:
    history = History("run")
    first, second = Worker(history), Worker(history)
    made = consumer(history, [first, second])
    before = len(history.events)
    terminate(history, made)
    assert kinds(history)[before:] == [
        "fault-injected",
        "consumer-stopping",
        "sigterm",
        "its last words",
        "consumer-stopped",
        "fault-effective",
    ]
    effective = history.events[-1].data
    assert (effective["fault"], effective["target"]) == ("terminate", "a")
    assert effective["proof"] == "process 7 has shut its client down and ended with exit code 143"
    assert not made.started
    assert not made.alive
    made.start()
    assert made.alive
    assert made.started


def test_a_member_that_does_not_end_has_not_stopped_and_the_run_can_not_go_on() -> None:
    history = History("run")
    made = consumer(history, [Worker(history, ends=False)])
    with pytest.raises(PreconditionNotMet, match="not within 40 s; last seen: `received`"):
        terminate(history, made)
    assert kinds(history)[-1] == "sigterm"


def test_the_producer_sends_nothing_until_another_process_is_started() -> None:
    history = History("run")
    workers = [Worker(history), Worker(history)]
    producer = Producer(
        history=history,
        spawn=lambda: cast(Any, workers.pop(0)),
        real=str,
        servers=lambda: {"nameserver": "x:1"},
        locate=lambda *_: {},
        find=lambda *_: None,
        instance="r",
    )
    producer.start()
    terminate(history, producer)
    assert kinds(history) == ["fault-injected", "sigterm", "its last words", "fault-effective"]
    assert "the producer doesn't run" in producer.send("orders", "tagA", None)
    assert history.events[-1].data["error"] == "the producer doesn't run"
    producer.start()
    assert producer.alive
    assert workers == []
