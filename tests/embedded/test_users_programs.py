"""Programs of a user's own as consumers, on a real RocketMQ: those that behave, and those that don't."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocketchaos.harness.jars.java_home import find_java
from rocketchaos.harness.live import CheckFailed, LiveRun
from rocketchaos.harness.workers.program_log import LOG_LIMIT_BYTES, TAIL_BYTES
from tests.embedded.command import Ended, rocketchaos
from tests.embedded.test_endings import end, start
from tests.embedded.users_programs import jar_of, log_of, of_guide, relocated, run_own

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(300)]

SCENARIO = """\
name: own
title: a program of the user's own
topics: {orders: {queues: 4}}
consumers:
  a:
    group: g
    subscribe: {orders: tagA}
    app:
      jar: wayward.jar
      args: [$nameserver, MODE]
      env: {SHOP: north}
      properties: {shop: south}
      ready_within: 20s
steps:
  - start: a
  - settle: {ownership: g, within: 60s}
  - settle: {subscription: g, topic: orders, within: 60s}
STEPS
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 4}}]
"""
SENDS = """\
  - send: {topic: orders, tag: tagA, count: 4, per_queue: 1}
  - settle: {offsets: g, topic: orders, lag: 0, within: 60s}
"""


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("Wayward.java")
    return jar_of([source], "Wayward", tmp_path_factory.mktemp("jar") / "wayward.jar")


Run = Callable[..., tuple[Ended, dict[str, Any]]]


@pytest.fixture
def run(jar: Path, tmp_path: Path) -> Run:
    """Runs a program in this mode: the command, and the run as `--json` tells it."""
    (tmp_path / "wayward.jar").symlink_to(jar)

    def of(mode: str, steps: str = SENDS, version: str = "4.9.4") -> tuple[Ended, dict[str, Any]]:
        return run_own(tmp_path, SCENARIO.replace("MODE", mode).replace("STEPS", steps), version)

    return of


def test_a_plain_jar_tells_what_it_gets_and_answers(run: Run) -> None:
    ended, found = run("plain")
    assert (ended.code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
    events = [json.loads(line) for line in (Path(found["run_dir"]) / "events.jsonl").read_text().splitlines()]
    received = [event["data"] for event in events if event["kind"] == "received"]
    assert sorted(item["key"] for item in received) == [f"orders-{number}" for number in range(1, 5)]
    assert {item["tag"] for item in received} == {"tagA"}
    assert {item["queue_id"] for item in received} == {0, 1, 2, 3}
    sent = {event["data"]["key"]: event["data"]["msg_id"] for event in events if event["kind"] == "sent"}
    assert {item["key"]: item["msg_id"] for item in received} == sent
    consumed = [event["data"] for event in events if event["kind"] == "consumed"]
    assert [item["status"] for item in consumed] == ["CONSUME_SUCCESS"] * 4
    # Its surroundings are those that the scenario says, and the names are as they are.
    assert "mode plain in north of south" in log_of(found)
    assert "The program of a subscribes" not in (Path(found["run_dir"]) / "START-HERE.md").read_text()
    assert {event["data"]["group"] for event in events if event["kind"] == "consumer-started"} == {"g"}


TWO_WAYS = """\
name: two-ways
title: a listener and a poll in one program
topics: {orders: {queues: 4}}
consumers:
  billing-1:
    group: billing
    subscribe: {orders: paid}
    app: {jar: two-ways.jar, args: [$nameserver]}
  audit-1: {group: audit, subscribe: {orders: '*'}, beside: billing-1}
steps:
  - start: [billing-1, audit-1]
  - settle: {ownership: billing, within: 60s}
  - send: {topic: orders, tags: [paid, cancelled], count: 16, per_queue: 4}
  - settle: {delivered: audit, count: 16, within: 60s}
  - settle: {offsets: billing, topic: orders, lag: 0, within: 60s}
anomaly: [{undelivered: {group: billing, tag: paid, at_least: 1}}]
healthy: [{delivered: {to: billing, count: 8}}, {delivered: {to: audit, count: 16}}]
expected: {app: not-reproduced}
"""


@pytest.mark.extended
@pytest.mark.parametrize("moved", [False, True], ids=["as-they-are", "relocated"])
def test_a_lite_pull_consumer_is_seen_too_and_so_are_relocated_classes(tmp_path: Path, moved: bool) -> None:
    source = Path(__file__).with_name("TwoWays.java")
    made = jar_of([source], "TwoWays", tmp_path / ("plain.jar" if moved else "two-ways.jar"))
    if moved:
        relocated(made, tmp_path / "two-ways.jar")
    ended, found = run_own(tmp_path, TWO_WAYS, "4.9.4")
    assert (ended.code, found["outcome"], found["trouble"]) == (0, "not-reproduced", None), found["reason"]
    events = [json.loads(line) for line in (Path(found["run_dir"]) / "events.jsonl").read_text().splitlines()]
    started = {event["node"]: event["data"] for event in events if event["kind"] == "consumer-started"}
    assert started["audit-1"]["filters_by"] == "own"
    assert started["billing-1"]["filters_by"] == "stored"
    assert {item["client_version"] for item in started.values()} == {"4.9.4"}


@pytest.mark.extended
def test_messages_have_bodies_of_the_user_s_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "order.json").write_text('{"id": $number, "key": "$key", "of": "café"}\n', encoding="utf-8")
    _, found = run("plain", SENDS.replace("count: 4", "body: order.json, count: 4"))
    assert (found["outcome"], found["trouble"]) == ("not-reproduced", None), found["reason"]
    for number in range(1, 5):
        assert f'got {{"id": {number}, "key": "orders-{number}", "of": "café"}}' in log_of(found)


@pytest.mark.extended
def test_what_its_listener_fails_comes_again(run: Run) -> None:
    steps = """\
  - send: {topic: orders, tag: tagA, count: 4, per_queue: 1}
  - settle: {retried: g, count: 4, within: 60s}
"""
    _, found = run("fails", steps, "5.5.0")
    assert (found["outcome"], found["trouble"]) == ("not-reproduced", None), found["reason"]
    text = (Path(found["run_dir"]) / "events.jsonl").read_text()
    assert text.count('"RECONSUME_LATER"') == 4
    assert text.count('"reconsume_times": 1') == 4


@pytest.mark.extended
def test_a_jar_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "own.scenario.yaml").write_text(SCENARIO.replace("MODE", "plain").replace("STEPS", SENDS))
    ended = rocketchaos("run", "own.scenario.yaml", "--json", cwd=tmp_path)
    (found,) = ended.document["runs"]
    assert (ended.code, found["outcome"]) == (4, "error")
    assert f"the program doesn't exist: {tmp_path}/wayward.jar" in found["reason"]
    assert "Build it first" in found["reason"]


@pytest.mark.extended
@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("ends", ["exit code 1", "no database"]),
        pytest.param(
            "idle",
            ["has not started its consumer of the group g within 20 s", "no consumer at all"],
            marks=pytest.mark.nightly,
        ),
        (
            "stranger",
            [
                "has not started its consumer of the group g within 20 s",
                "a consumer of other",
                "correct `group`",
            ],
        ),
    ],
)
def test_a_program_that_never_consumes_is_one_message(run: Run, mode: str, words: list[str]) -> None:
    ended, found = run(mode)
    assert (ended.code, found["outcome"]) == (4, "error")
    for word in words:
        assert word in found["reason"]
    assert f"mode {mode}" in log_of(found)
    record = json.loads((Path(found["run_dir"]) / "run.json").read_text("utf-8"))
    assert record["client_version"] == "unknown"


@pytest.mark.extended
def test_one_that_ends_later_says_its_last_words(run: Run) -> None:
    steps = '  - wait: {duration: 20s, because: "it ends meanwhile"}\n'
    ended, found = run("dies", steps)
    assert (ended.code, found["outcome"]) == (4, "error")
    assert "exit code 3" in found["reason"]
    assert "last words" in found["reason"]


@pytest.mark.extended
def test_what_it_subscribes_to_besides_is_shown_and_judged(run: Run) -> None:
    _, found = run("differs")
    assert found["trouble"] is None, found["reason"]
    assert found["outcome"] == "reproduced"
    folder = Path(found["run_dir"])
    said = (folder / "START-HERE.md").read_text()
    assert "The program of a subscribes to orders 'tagB', and the scenario says orders 'tagA'" in said
    fates = [json.loads(line) for line in (folder / "messages.jsonl").read_text().splitlines()]
    assert {fate["message_class"] for fate in fates} == {"filtered-by-broker"}


@pytest.mark.extended
def test_what_it_prints_goes_into_its_log_up_to_a_limit_and_the_rest_is_counted(run: Run) -> None:
    _, found = run("floods")
    assert (found["outcome"], found["trouble"]) == ("not-reproduced", None), found["reason"]
    folder = Path(found["run_dir"])
    log = (folder / "logs" / "a.log").read_bytes()
    cuts = [
        event
        for line in (folder / "events.jsonl").open()
        if (event := json.loads(line))["kind"] == "output-cut"
    ]
    (left_out,) = (event["data"]["left_out_bytes"] for event in cuts)
    note = f"\n[rocketchaos: {left_out} bytes are left out here]\n".encode()
    assert len(log) == LOG_LIMIT_BYTES + len(note) + TAIL_BYTES
    assert log.count(note) == 1
    # Four messages, 120,000 lines of 101 bytes for each, and some lines more.
    assert 4 * 120_000 * 101 < len(log) - len(note) + left_out < 4 * 120_000 * 101 + 10_000
    told = f"{left_out:,} bytes are left out of logs/a.log"
    assert told in (folder / "START-HERE.md").read_text()
    assert told in (folder / "report.html").read_text()


@pytest.mark.extended
# The wait is its subject.
@pytest.mark.nightly
def test_sigterm_that_it_does_not_heed_is_inconclusive(run: Run) -> None:
    ended, found = run("stays", "  - stop: a\n")
    assert (ended.code, found["outcome"]) == (3, "inconclusive")
    assert "got SIGTERM 40 s ago and has not ended" in found["reason"]


@pytest.mark.extended
def test_it_is_killed_and_begins_anew(run: Run) -> None:
    steps = (
        SENDS
        + """\
  - pause: a
  - resume: a
  - kill: a
  - start: a
  - settle: {ownership: g, within: 180s}
  - terminate: a
"""
    )
    ended, found = run("plain", steps)
    assert (ended.code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
    text = (Path(found["run_dir"]) / "events.jsonl").read_text()
    assert text.count('"program-subscription"') == 2


@pytest.mark.extended
def test_nothing_is_left_of_it_after_sigkill_of_the_command(jar: Path, tmp_path: Path) -> None:
    (tmp_path / "wayward.jar").symlink_to(jar)
    scenario = tmp_path / "own.scenario.yaml"
    waits = SENDS + '  - wait: {duration: 120s, because: "to be ended meanwhile"}\n'
    scenario.write_text(SCENARIO.replace("MODE", "stays").replace("STEPS", waits))
    command = start(scenario, tmp_path)
    try:
        command.until(lambda: "consumed" in command.events())
        program = command.process_of("a")
        assert program.is_running()
        command.process.send_signal(signal.SIGKILL)
        command.process.wait(10)
    finally:
        end(command)
    assert not program.is_running() or program.status() == psutil.STATUS_ZOMBIE


def test_in_pytest_it_is_declared_in_one_line(rocketmq: LiveRun, jar: Path) -> None:
    rocketmq.app("a", jar=jar, args=["$nameserver", "plain"], group="g", subscribe={"orders": "tagA"})
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="60s")
    rocketmq.send(topic="orders", tag="tagA", count=4, per_queue=1)
    rocketmq.settle(delivered="g", count=4, topic="orders", within="60s")
    rocketmq.terminate("a")
    rocketmq.check.delivered(to="a", count=4)
    with pytest.raises(CheckFailed):
        rocketmq.check.undelivered(at_least=1)


TRACED_SCENARIO = """\
name: own
title: a program whose client writes a message trace
topics: {orders: {queues: 4}}
consumers:
  a:
    group: g
    subscribe: {orders: tagA}
    app: {command: [JAVA, -jar, wayward.jar, $nameserver, traces-fails], SEES}
  b:
    group: g
    subscribe: {orders: tagA}
    app: {command: [JAVA, -jar, wayward.jar, $nameserver, MODE], SEES}
steps:
  - start: a
  - start: b
  - settle: {ownership: g, within: 90s}
  - send: {topic: orders, tag: tagA, count: 8, per_queue: 2}
  - settle: {delivered: SETTLED, topic: orders, count: COUNT, within: 60s}
  - settle: {offsets: g, topic: orders, lag: 0, within: 60s}
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 8}}]
"""


def traced(folder: Path, jar: Path, version: str, **words: str) -> dict[str, Any]:
    """A run of two programs of one group that are seen by their trace, of which `a` fails each message once."""
    (folder / "wayward.jar").symlink_to(jar)
    words = {"JAVA": str(find_java().executable), "SEES": of_guide("trace: true").strip(), **words}
    text = TRACED_SCENARIO
    for word, value in words.items():
        text = text.replace(word, value)
    return run_own(folder, text, version)[1]


@pytest.mark.extended
@pytest.mark.parametrize("version", ["4.9.4", pytest.param("5.5.0", marks=pytest.mark.nightly)])
def test_a_program_may_be_seen_by_its_message_trace(jar: Path, tmp_path: Path, version: str) -> None:
    if version != "4.9.4":
        source = Path(__file__).with_name("Wayward.java")
        jar = jar_of([source], "Wayward", tmp_path / "new.jar", version)
    found = traced(tmp_path, jar, version, MODE="traces", SETTLED="g", COUNT="8")
    assert (found["outcome"], found["trouble"]) == ("not-reproduced", None), found["reason"]
    events = [json.loads(line) for line in (Path(found["run_dir"]) / "events.jsonl").read_text().splitlines()]
    answers = [(event["node"], event["data"]["status"]) for event in events if event["kind"] == "consumed"]
    assert {status for node, status in answers if node == "b"} == {"CONSUME_SUCCESS"}
    assert [status for node, status in answers if node == "a"].count("RECONSUME_LATER") == 4


@pytest.mark.extended
def test_what_no_trace_shows_is_undetermined(jar: Path, tmp_path: Path) -> None:
    # The client of `b` has its trace switched off.
    found = traced(tmp_path, jar, "4.9.4", MODE="plain", SETTLED="a", COUNT="4")
    assert found["outcome"] == "inconclusive", found["reason"]
    assert "4 undetermined" in (Path(found["run_dir"]) / "START-HERE.md").read_text()
