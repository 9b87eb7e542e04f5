"""Programs of a user's own as consumers, on a real RocketMQ: those that behave, and those that don't."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocketchaos.harness.live import CheckFailed, LiveRun
from rocketchaos.harness.workers.program_log import LOG_LIMIT_BYTES, TAIL_BYTES
from tests.embedded.command import rocketchaos
from tests.embedded.test_endings import end, start
from tests.embedded.users_programs import RunOwn, classes_of, events_of, jar_of, log_of, relocated

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
      ready_within: WITHIN
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


def scenario(mode: str, steps: str, within: str = "60s") -> str:
    return SCENARIO.replace("MODE", mode).replace("STEPS", steps).replace("WITHIN", within)


Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(run_own: RunOwn, wayward: Path, tmp_path: Path) -> Run:
    """Runs a program in this mode: what a command would return, and the run as `--json` tells it."""
    (tmp_path / "wayward.jar").symlink_to(wayward)

    def of(
        mode: str, steps: str = SENDS, version: str = "4.9.4", within: str = "60s"
    ) -> tuple[int, dict[str, Any]]:
        return run_own(tmp_path, scenario(mode, steps, within), version)

    return of


@pytest.mark.extended
def test_a_plain_jar_tells_what_it_gets_and_answers(run: Run) -> None:
    code, found = run("plain")
    assert (code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
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


@pytest.fixture(scope="module")
def two_ways(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("TwoWays.java")
    return jar_of([source], "TwoWays", tmp_path_factory.mktemp("jar") / "two-ways.jar")


@pytest.mark.extended
@pytest.mark.parametrize(
    "moved",
    [pytest.param(False, id="as-they-are"), pytest.param(True, id="relocated", marks=pytest.mark.nightly)],
)
def test_a_lite_pull_consumer_is_seen_too_and_so_are_relocated_classes(
    run_own: RunOwn, two_ways: Path, tmp_path: Path, moved: bool
) -> None:
    own = tmp_path / "two-ways.jar"
    if moved:
        relocated(two_ways, own)
    else:
        own.symlink_to(two_ways)
    code, found = run_own(tmp_path, TWO_WAYS, "4.9.4")
    assert (code, found["outcome"], found["trouble"]) == (0, "not-reproduced", None), found["reason"]
    events = [json.loads(line) for line in (Path(found["run_dir"]) / "events.jsonl").read_text().splitlines()]
    started = {event["node"]: event["data"] for event in events if event["kind"] == "consumer-started"}
    assert started["audit-1"]["filters_by"] == "own"
    assert started["billing-1"]["filters_by"] == "stored"
    assert {item["client_version"] for item in started.values()} == {"4.9.4"}


@pytest.mark.nightly
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
    (tmp_path / "own.scenario.yaml").write_text(scenario("plain", SENDS))
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
        pytest.param(
            "stranger",
            [
                "has not started its consumer of the group g within 20 s",
                "a consumer of other",
                "correct `group`",
            ],
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_program_that_never_consumes_is_one_message(run: Run, mode: str, words: list[str]) -> None:
    code, found = run(mode, within="20s")
    assert (code, found["outcome"]) == (4, "error")
    for word in words:
        assert word in found["reason"]
    assert f"mode {mode}" in log_of(found)
    record = json.loads((Path(found["run_dir"]) / "run.json").read_text("utf-8"))
    assert record["client_version"] == "unknown"


@pytest.mark.extended
def test_a_start_that_its_client_refuses_is_reported_at_once(
    run_own: RunOwn, wayward: Path, tmp_path: Path
) -> None:
    """Its process lives on, and what throws is not `start()` itself but what that calls."""
    (tmp_path / "wayward.jar").symlink_to(wayward)
    text = scenario("sql", "").replace("orders: tagA", "orders: {sql: a = 1}")
    code, found = run_own(tmp_path, text, "4.9.4")
    assert (code, found["outcome"]) == (4, "error"), found["reason"]
    reported = "the program of a: start() of its consumer of the group g has thrown MQClientException: "
    assert reported in found["reason"]
    assert "does not support consumer to filter message by SQL92" in found["reason"]


@pytest.mark.nightly
def test_a_refused_start_without_another_try_is_reported_after_the_limit(run: Run) -> None:
    """The thread that called it goes on, so that it may try again."""
    code, found = run("gives-up", "", within="6s")
    assert (code, found["outcome"]) == (4, "error")
    assert (
        "start() of its consumer of the group g has thrown MQClientException: messageListener"
        in found["reason"]
    )


@pytest.mark.extended
@pytest.mark.parametrize(
    "mode",
    [
        # start() without a listener throws.
        pytest.param("tries-again", marks=pytest.mark.nightly),
        # It shuts its first consumer down.
        "anew",
    ],
)
def test_one_that_starts_another_consumer_is_seen(run: Run, mode: str) -> None:
    code, found = run(mode)
    assert (code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
    assert classes_of(found)["g"] == {"delivered": 4}
    started = events_of(found, "consumer-started")
    assert events_of(found, "subscription-observed")[-1]["clients"] == [started[-1]["client_id"]]


LATER = """\
name: own
title: a program that subscribes to another topic while it runs
topics: {orders: {queues: 4}, refunds: {queues: 4}}
consumers:
  a: {group: g, app: {jar: wayward.jar, args: [$nameserver, later]}}
steps:
  - start: a
  - settle: {subscription: g, topic: refunds, within: 60s}
  - send: {topic: refunds, tag: tagA, count: 4, per_queue: 1}
  - settle: {delivered: g, topic: refunds, count: 4, within: 60s}
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, topic: refunds, count: 4}}]
"""


@pytest.mark.nightly
@pytest.mark.extended
def test_what_it_subscribes_to_while_it_runs_counts(run_own: RunOwn, wayward: Path, tmp_path: Path) -> None:
    (tmp_path / "wayward.jar").symlink_to(wayward)
    code, found = run_own(tmp_path, LATER)
    assert (code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
    assert events_of(found, "subscribed") == [{"topic": "refunds", "expression": "*"}]
    assert events_of(found, "unsubscribed") == [{"topic": "orders"}]
    assert classes_of(found)["g"] == {"delivered": 4}


@pytest.mark.extended
def test_one_that_ends_later_says_its_last_words(run: Run) -> None:
    steps = '  - wait: {duration: 20s, because: "it ends meanwhile"}\n'
    code, found = run("dies", steps)
    assert (code, found["outcome"]) == (4, "error")
    assert "exit code 3" in found["reason"]
    assert "last words" in found["reason"]


SEVERAL = """\
name: own
title: programs of the user's own, each in a group of its own
topics: {orders: {queues: 4}}
consumers:
  plain: {group: g, subscribe: {orders: tagA}, app: {jar: wayward.jar, args: [$nameserver, plain]}}
  differs:
    {group: of-differs, subscribe: {orders: tagA},
     app: {jar: wayward.jar, args: [$nameserver, differs], env: {GROUP: of-differs}}}
  floods:
    {group: of-floods, subscribe: {orders: tagA},
     app: {jar: wayward.jar, args: [$nameserver, floods], env: {GROUP: of-floods}}}
steps:
  - start: [plain, differs, floods]
  - settle: {ownership: g, within: 60s}
  - settle: {ownership: of-differs, within: 60s}
  - settle: {ownership: of-floods, within: 60s}
  - settle: {subscription: of-differs, topic: orders, within: 60s}
  - send: {topic: orders, tag: tagA, body: order.json, count: 4, per_queue: 1}
  - settle: {offsets: g, topic: orders, lag: 0, within: 60s}
  - settle: {offsets: of-differs, topic: orders, lag: 0, within: 60s}
  - settle: {offsets: of-floods, topic: orders, lag: 0, within: 60s}
anomaly: [{undelivered: {group: of-differs, at_least: 1}}]
healthy: [{delivered: {to: of-differs, count: 4}}]
"""


@pytest.fixture(scope="module")
def several(run_own: RunOwn, wayward: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One run of programs that do different things; with trouble this fails, so that it runs once more."""
    folder = tmp_path_factory.mktemp("several")
    (folder / "wayward.jar").symlink_to(wayward)
    (folder / "order.json").write_text('{"id": $number, "key": "$key", "of": "café"}\n', encoding="utf-8")
    found = run_own(folder, SEVERAL)[1]
    assert found["trouble"] is None, found["reason"]
    return found


@pytest.mark.extended
def test_messages_have_bodies_of_the_user_s_own(several: dict[str, Any]) -> None:
    for number in range(1, 5):
        assert f'got {{"id": {number}, "key": "orders-{number}", "of": "café"}}' in log_of(several, "plain")
    assert classes_of(several)["g"] == {"delivered": 4}


@pytest.mark.extended
def test_what_it_subscribes_to_besides_is_shown_and_judged(several: dict[str, Any]) -> None:
    assert several["outcome"] == "reproduced", several["reason"]
    said = (Path(several["run_dir"]) / "START-HERE.md").read_text()
    assert "The program of differs subscribes to orders 'tagB', and the scenario says orders 'tagA'" in said
    assert classes_of(several)["of-differs"] == {"filtered-by-broker": 4}


@pytest.mark.extended
def test_its_output_is_logged_up_to_a_limit_and_the_rest_is_counted(several: dict[str, Any]) -> None:
    assert classes_of(several)["of-floods"] == {"delivered": 4}
    folder = Path(several["run_dir"])
    log = (folder / "logs" / "floods.log").read_bytes()
    (left_out,) = (data["left_out_bytes"] for data in events_of(several, "output-cut"))
    note = f"\n[rocketchaos: {left_out} bytes are left out here]\n".encode()
    assert len(log) == LOG_LIMIT_BYTES + len(note) + TAIL_BYTES
    assert log.count(note) == 1
    # Four messages, 120,000 lines of 101 bytes for each, and some lines more.
    assert 4 * 120_000 * 101 < len(log) - len(note) + left_out < 4 * 120_000 * 101 + 10_000
    told = f"{left_out:,} bytes are left out of logs/floods.log"
    assert told in (folder / "START-HERE.md").read_text()
    assert told in (folder / "report.html").read_text()


# The wait is its subject.
@pytest.mark.nightly
def test_sigterm_that_it_does_not_heed_is_inconclusive(run: Run) -> None:
    code, found = run("stays", "  - stop: a\n")
    assert (code, found["outcome"]) == (3, "inconclusive")
    assert "got SIGTERM 40 s ago and has not ended" in found["reason"]


@pytest.mark.nightly
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
    code, found = run("plain", steps)
    assert (code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
    text = (Path(found["run_dir"]) / "events.jsonl").read_text()
    assert text.count('"program-subscription"') == 2


@pytest.mark.nightly
def test_nothing_is_left_of_it_after_sigkill_of_the_command(wayward: Path, tmp_path: Path) -> None:
    (tmp_path / "wayward.jar").symlink_to(wayward)
    file = tmp_path / "own.scenario.yaml"
    waits = SENDS + '  - wait: {duration: 120s, because: "to be ended meanwhile"}\n'
    file.write_text(scenario("stays", waits))
    command = start(file, tmp_path)
    try:
        command.until(lambda: "consumed" in command.events())
        program = command.process_of("a")
        assert program.is_running()
        command.process.send_signal(signal.SIGKILL)
        command.process.wait(10)
    finally:
        end(command)
    assert not program.is_running() or program.status() == psutil.STATUS_ZOMBIE


@pytest.mark.extended
def test_in_pytest_it_is_declared_in_one_line(rocketmq: LiveRun, wayward: Path) -> None:
    rocketmq.app("a", jar=wayward, args=["$nameserver", "plain"], group="g")
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="60s")
    rocketmq.send(topic="orders", tag="tagA", count=4, per_queue=1)
    rocketmq.settle(delivered="g", count=4, topic="orders", within="60s")
    rocketmq.terminate("a")
    rocketmq.check.delivered(to="a", count=4)
    with pytest.raises(CheckFailed):
        rocketmq.check.undelivered(at_least=1)
