"""Runs from Python on a real RocketMQ: the fixture `rocketmq`, and what it leaves."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import PreconditionNotMet, UsageProblem
from rocketchaos.harness.core.history import read_history
from rocketchaos.harness.core.model import Holds, OutcomeKind
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.live import LIVE_CHECKS, LIVE_STEPS, CheckFailed, CheckUndecided, LiveRun
from rocketchaos.harness.reaper.reaper import find_owned
from rocketchaos.harness.scenario import InvalidScenario
from tests.waiting import until

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.embedded

PLUGIN = [] if entry_points(group="pytest11", name="rocketchaos") else ["-p", "rocketchaos_pytest"]


@pytest.fixture
def rocketmq(
    shared_runner: Runner, on_shared_cluster: None, request: pytest.FixtureRequest
) -> Iterator[LiveRun]:
    with LiveRun(shared_runner, request.node.name, "Driven from Python") as run:
        run.topic("orders", queues=4)
        run.consumer("a", group="g", subscribe={"orders": "tagA"})
        run.consumer("b", group="g", subscribe={"orders": "tagB"})
        yield run


def send_four(rocketmq: LiveRun) -> None:
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(topic="orders", tag="tagA", count=4, per_queue=1)
    rocketmq.settle(offsets="g", topic="orders", within="60s")


def judged_again(run: LiveRun) -> int:
    assert run.folder is not None
    return main(["check", str(run.folder)])


def test_a_mismatch_from_python_is_what_it_is_in_a_file(rocketmq: LiveRun) -> None:
    rocketmq.start("a")
    rocketmq.start("b")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.settle(subscription="g", topic="orders", within="40s")
    holder = rocketmq.bind(holder={"member-of": "g", "whose-subscription-is-stored-for": "orders"})
    rocketmq.send(topic="orders", tag="$holder.tag", count=8, per_queue=2)
    rocketmq.settle(offsets="g", topic="orders", lag=0, within="60s")
    found = rocketmq.check.delivered(to=holder, count=4, from_queues_of=holder)
    rocketmq.check.undelivered(count=4, because="filtered-by-client", claim="B07")
    report = rocketmq.finish()

    assert holder == "$holder"
    assert rocketmq.resolve(holder) in (("a",), ("b",))
    assert found.holds is Holds.YES
    assert report is not None
    assert report.outcome.kind is OutcomeKind.REPRODUCED
    assert report.outcome.as_expected
    assert judged_again(rocketmq) == 0
    assert {path.name for path in report.folder.iterdir()} >= {"START-HERE.md", "report.html", "run.json"}


def test_a_check_that_fails_is_an_assertion(rocketmq: LiveRun) -> None:
    send_four(rocketmq)
    with pytest.raises(CheckFailed) as failed:
        rocketmq.check.delivered(to="a", count=3)
    report = rocketmq.finish()

    assert "expected: 3 messages delivered to a" in str(failed.value)
    assert "observed: 4 of 4 sent" in str(failed.value)
    assert f"Reproduce: rocketchaos reproduce {rocketmq.folder}" in str(failed.value)
    assert report is not None
    assert report.outcome.kind is OutcomeKind.NOT_REPRODUCED
    assert judged_again(rocketmq) == 1


def test_a_check_without_evidence_is_no_assertion(rocketmq: LiveRun) -> None:
    rocketmq.start("a")
    with pytest.raises(CheckUndecided, match="no message was sent"):
        rocketmq.check.delivered(to="a", count=3)
    rocketmq.finish()

    assert not issubclass(CheckUndecided, AssertionError)
    assert judged_again(rocketmq) == 3


def test_a_condition_that_is_not_reached_ends_the_run(rocketmq: LiveRun) -> None:
    rocketmq.start("a")
    rocketmq.send(topic="orders", tag="tagA", count=4)
    with pytest.raises(PreconditionNotMet, match=r"not reached within 0\.001 s"):
        rocketmq.settle(offsets="g", topic="orders", within="1ms")
    with pytest.raises(UsageProblem, match="the run is over"):
        rocketmq.check.delivered(to="a", count=4)
    rocketmq.finish()

    assert judged_again(rocketmq) == 3


def test_what_a_file_can_t_say_is_refused_and_the_run_goes_on(rocketmq: LiveRun) -> None:
    send_four(rocketmq)
    with pytest.raises(InvalidScenario, match="did you mean `orders`"):
        rocketmq.send(topic="order", count=1)
    with pytest.raises(InvalidScenario, match="b has not been started"):
        rocketmq.kill("b")
    with pytest.raises(UsageProblem, match="comes too late"):
        rocketmq.topic("late")
    rocketmq.check.delivered(to="a", count=4)
    rocketmq.finish()

    assert judged_again(rocketmq) == 0


def test_moments_and_faults_are_steps_like_others(rocketmq: LiveRun) -> None:
    send_four(rocketmq)
    rocketmq.observe("before-the-kill")
    rocketmq.kill("a")
    rocketmq.check.subscription(group="g", topic="orders", expression="tagA", clients=1, at="before-the-kill")
    rocketmq.finish()

    assert [event.data["target"] for event in rocketmq.events if event.kind == "fault-effective"] == ["a"]
    assert judged_again(rocketmq) == 0


def test_unknown_words_are_answered_with_those_there_are(rocketmq: LiveRun) -> None:
    with pytest.raises(AttributeError, match="did you mean `send`"):
        rocketmq.sned("a")
    with pytest.raises(AttributeError, match="did you mean `delivered`"):
        rocketmq.check.deliverd(to="a")
    assert set(LIVE_STEPS) <= set(dir(rocketmq))
    assert set(LIVE_CHECKS) <= set(dir(rocketmq.check))


def test_no_word_is_hidden_by_a_method() -> None:
    assert not set(LIVE_STEPS) & set(vars(LiveRun))


def test_a_run_in_which_nothing_was_done_leaves_nothing(rocketmq: LiveRun) -> None:
    assert rocketmq.finish() is None
    assert rocketmq.folder is None


def test_a_run_in_which_nothing_was_checked_says_nothing(rocketmq: LiveRun) -> None:
    rocketmq.start("a")
    report = rocketmq.finish()

    assert report is not None
    assert report.outcome.kind is OutcomeKind.INCONCLUSIVE
    assert "nothing was checked" in report.outcome.reason


TESTS = """
import pytest

@pytest.mark.parametrize("number", range(2))
def test_live(rocketmq, number):
    rocketmq.topic("orders", queues=2)
    rocketmq.consumer("a", group="g", subscribe={"orders": "tagA"})
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.send(topic="orders", tag="tagA", count=2, per_queue=1)
    rocketmq.settle(offsets="g", topic="orders", within="60s")
    rocketmq.check.delivered(to="a", count=2 + (FAILS and number))
    if UNKNOWN:
        rocketmq.check.delivered(to="a", count=4 + number, tag="tagB")
"""
SCENARIO = Path(__file__).parents[2] / "scenarios" / "tags" / "same-group-same-tags.scenario.yaml"


@pytest.mark.nightly
def test_two_processes_of_xdist_get_into_nobody_s_way(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(TESTS.replace("FAILS", "0").replace("UNKNOWN", "0"))
    for number in range(2):
        text = SCENARIO.read_text().replace("name: same-group-same-tags", f"name: same-{number}")
        (pytester.path / f"same-{number}.scenario.yaml").write_text(text)

    result = pytester.runpytest_subprocess(*PLUGIN, "-n", "2", "--junit-xml=junit.xml", timeout=200)

    result.assert_outcomes(passed=4)
    runs = [run for run in (pytester.path / "runs").glob("*/*") if not run.is_symlink()]
    assert len(runs) == 4
    assert "events.jsonl" in (pytester.path / "junit.xml").read_text()


@pytest.mark.extended
@pytest.mark.usefixtures("on_shared_cluster")
def test_failures_and_errors_of_the_fixture_are_told_apart(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_fails=TESTS.replace("FAILS", "1").replace("UNKNOWN", "0"),
        test_unknown=TESTS.replace("FAILS", "0").replace("UNKNOWN", "1"),
    )

    result = pytester.runpytest_subprocess(*PLUGIN, timeout=200)

    result.assert_outcomes(passed=1, failed=1, errors=2)
    text = result.stdout.str()
    assert "CheckFailed: delivered to a: does not hold" in text
    assert "CheckUndecided: delivered to a: can't be said" in text
    assert "live.py" not in text


WAITS = """
def test_waits(rocketmq):
    rocketmq.topic("orders", queues=2)
    rocketmq.consumer("a", group="g", subscribe={"orders": "tagA"})
    rocketmq.start("a")
    rocketmq.wait("10m")
"""


@pytest.mark.extended
def test_an_interruption_ends_all_that_was_started_and_keeps_the_history(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(WAITS)
    events = pytester.path / "runs" / "test-waits" / "latest" / "events.jsonl"
    process = pytester.popen([sys.executable, "-m", "pytest", *PLUGIN])
    until(lambda: events.is_file() and '"step": "wait"' in events.read_text())

    process.send_signal(signal.SIGINT)
    process.wait(60)

    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert find_owned(lambda owner: owner.startswith(f"{process.pid}-")) == []
    assert read_history(events).damage is None
    outcome = json.loads((events.parent / "outcome.json").read_text())
    assert (outcome["outcome"], outcome["trouble"]) == ("inconclusive", "interrupted")


def test_what_diagnose_finds_is_a_check(rocketmq: LiveRun) -> None:
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="40s")
    rocketmq.check.diagnose(group="g", nothing_else=True)
    rocketmq.start("b")
    rocketmq.settle(ownership="g", within="40s")
    found = rocketmq.check.diagnose(group="g", finds=["RC0101"], nothing_else=True)
    assert "RC0101 (error)" in found.observed
    with pytest.raises(CheckFailed, match="diagnosis of g"):
        rocketmq.check.diagnose(group="g", finds=["RC0207"])
