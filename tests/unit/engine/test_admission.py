"""Who may run beside whom, with a load that the test decides."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from rocketchaos.harness.core.machine_load import CpuMeter, RunLoad
from rocketchaos.harness.engine.admission import (
    FREE_MEMORY_MIB,
    IDLE_SHARE,
    OVERTAKEN_FOR_S,
    Admission,
    Slot,
    weight_of,
)
from rocketchaos.harness.scenario import parse_scenario
from tests.unit.scenario.examples import scenario_text

LIMIT_S = 10.0
NOT_YET_S = 0.4
"""Several looks of `Admission`."""
MUCH_MIB = 2.0 * FREE_MEMORY_MIB
HALF = IDLE_SHARE + 0.1
"""Of the cores is busy: further runs may begin, as far as their weights fit."""


class Runs:
    """Runs that ask for their slot, each in a thread, and go on until they are told to end."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.interrupted = threading.Event()
        self._pool = ThreadPoolExecutor(32)
        self._ends: list[threading.Event] = []

    def begin(self, weight: float = 1.0) -> tuple[Future[Slot], threading.Event]:
        """A future of its slot, and what ends it."""
        begun: Future[Slot] = Future()
        end = threading.Event()
        self._ends.append(end)

        def go() -> None:
            try:
                with self.admission.slot(weight, self.interrupted) as slot:
                    begun.set_result(slot)
                    end.wait(LIMIT_S)
            except BaseException as error:
                begun.set_exception(error)

        self._pool.submit(go)
        return begun, end

    def close(self) -> None:
        self.interrupted.set()
        for end in self._ends:
            end.set()
        self._pool.shutdown()


@contextmanager
def runs(admission: Admission) -> Iterator[Runs]:
    with ExitStack() as stack:
        made = Runs(admission)
        stack.callback(made.close)
        yield made


def has_begun(begun: Future[Slot]) -> bool:
    try:
        begun.result(NOT_YET_S)
    except TimeoutError:
        return False
    return True


def test_a_chosen_number_is_kept_to_whatever_the_load() -> None:
    with runs(Admission(2, cores=1, busy=lambda: 1.0)) as some:
        first, end = some.begin(weight=7)
        second, _ = some.begin(weight=7)
        third, _ = some.begin(weight=0.1)
        assert first.result(LIMIT_S).beside == 0
        assert second.result(LIMIT_S).beside == 1
        assert not has_begun(third)
        end.set()
        slot = third.result(LIMIT_S)
        assert slot.as_json() == {
            "chosen": 2, "limit": 2.0, "weight": 1.0, "beside": 1, "waited_s": pytest.approx(NOT_YET_S, abs=2)
        }  # fmt: skip


def test_four_for_each_core_and_no_more() -> None:
    with runs(Admission(None, cores=1, busy=lambda: HALF)) as some:
        four = [some.begin()[0] for _ in range(4)]
        assert [slot.result(LIMIT_S).limit for slot in four] == [4.0] * 4
        assert not has_begun(some.begin()[0])


def test_on_an_idle_machine_four_times_the_weight_is_under_way() -> None:
    busy = [HALF]
    with runs(Admission(None, cores=1, busy=lambda: busy[0], memory_mib=lambda: MUCH_MIB)) as some:
        first, end = some.begin(3.0)
        assert has_begun(first)
        heavy = [some.begin(4.0)[0], some.begin(4.0)[0], some.begin(4.0)[0]]
        assert not has_begun(heavy[0])
        busy[0] = 0.0
        assert [slot.result(LIMIT_S).beside for slot in heavy] == [1, 2, 3]
        waiting, _ = some.begin(2.0)
        assert not has_begun(waiting)
        end.set()
        assert has_begun(waiting)


def test_without_free_memory_no_run_begins_beyond_the_usual_weight() -> None:
    free_mib = [FREE_MEMORY_MIB - 1.0]
    with runs(Admission(None, cores=1, busy=lambda: 0.0, memory_mib=lambda: free_mib[0])) as some:
        assert has_begun(some.begin(3.0)[0])
        assert has_begun(some.begin(1.0)[0])
        heavy, _ = some.begin(3.0)
        assert not has_begun(heavy)
        free_mib[0] = MUCH_MIB
        assert has_begun(heavy)


def test_a_moment_without_work_is_no_idle_machine() -> None:
    measured = iter([HALF, 0.0, HALF])
    with runs(Admission(None, cores=1, busy=lambda: next(measured, HALF))) as some:
        assert has_begun(some.begin(3.0)[0])
        assert not has_begun(some.begin(3.0)[0])


def test_a_busy_machine_gets_one_run_at_a_time_until_it_is_less_busy() -> None:
    busy = [0.95]
    with runs(Admission(None, cores=4, busy=lambda: busy[0])) as some:
        assert has_begun(some.begin()[0])
        second, _ = some.begin()
        assert not has_begun(second)
        busy[0] = 0.5
        assert has_begun(second)


def test_a_load_that_is_not_known_yet_is_waited_for() -> None:
    with runs(Admission(None, cores=4, busy=lambda: None)) as some:
        assert has_begun(some.begin()[0])
        assert not has_begun(some.begin()[0])


def test_a_lighter_one_begins_before_one_that_does_not_fit_yet() -> None:
    with runs(Admission(None, cores=1, busy=lambda: HALF)) as some:
        first, end = some.begin(3.0)
        assert has_begun(first)
        heavy, _ = some.begin(2.0)
        assert not has_begun(heavy)
        light, _ = some.begin(1.0)
        assert has_begun(light)
        assert not has_begun(heavy)
        end.set()
        assert has_begun(heavy)


def test_who_has_waited_long_is_overtaken_no_more() -> None:
    now = [0.0]
    with runs(Admission(None, cores=1, busy=lambda: HALF, clock=lambda: now[0])) as some:
        first, end = some.begin(3.0)
        assert has_begun(first)
        heavy, _ = some.begin(2.0)
        assert not has_begun(heavy)
        now[0] = OVERTAKEN_FOR_S + 1
        light, _ = some.begin(1.0)
        assert not has_begun(light)
        end.set()
        assert heavy.result(LIMIT_S).waited_s == now[0]
        assert has_begun(light)


def test_a_run_that_is_heavier_than_the_limit_gets_the_machine_to_itself() -> None:
    with runs(Admission(None, cores=1, busy=lambda: HALF)) as some:
        huge, end = some.begin(99.0)
        assert has_begun(huge)
        other, _ = some.begin(0.5)
        assert not has_begun(other)
        end.set()
        assert has_begun(other)


def test_an_interruption_ends_the_waiting() -> None:
    with runs(Admission(1)) as some:
        assert has_begun(some.begin()[0])
        waiting, _ = some.begin()
        some.interrupted.set()
        with pytest.raises(KeyboardInterrupt):
            waiting.result(LIMIT_S)


@pytest.mark.parametrize(
    ("step", "timing", "weight"),
    [("stop: a", "compressed", 1.0), ("kill: a", "compressed", 1.5), ("stop: a", "faithful", 0.25)],
)
def test_what_a_run_weighs(step: str, timing: str, weight: float) -> None:
    assert weight_of(parse_scenario(scenario_text("start: [a, b, c]", step), "s.yaml"), timing) == weight


def test_a_cluster_of_its_own_is_heavy() -> None:
    text = scenario_text("start: a") + "cluster: {own: true}\n"
    assert weight_of(parse_scenario(text, "s.yaml"), "compressed") == 4.0


def test_most_counts_the_lightest() -> None:
    assert (Admission(3).most, Admission(None, cores=2).most) == (3, 32)


def test_a_share_of_busy_cores() -> None:
    meter = CpuMeter()
    assert meter.busy() is None
    end = threading.Event()
    while (share := meter.busy()) is None:
        end.wait(0.02)
    assert 0.0 <= share <= 1.0
    assert set(RunLoad().as_json()) == {"start", "end", "busy_share"}


def test_in_containers_every_client_counts_and_the_producer() -> None:
    text = scenario_text("start: a") + "workers: containers\n"
    scenario = parse_scenario(text, "s.yaml")
    assert weight_of(scenario, "compressed") == 1.0 + 0.5 * (len(scenario.consumers) + 1)
