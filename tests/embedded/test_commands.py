"""Any program as a consumer, seen by what it prints: here a shell script around a JVM, on a real RocketMQ."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocketchaos.harness.live import CheckFailed, LiveRun
from tests.embedded.command import rocketchaos
from tests.embedded.users_programs import RunOwn, events_of, log_of

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(300)]
nightly = partial(pytest.param, marks=pytest.mark.nightly)

SCENARIO = """\
name: own
title: a program of the user's own
topics: {orders: {queues: 4}}
consumers:
  a:
    group: g
    subscribe: {orders: tagA}
    app:
      command: [./service, $nameserver, MODE]
      sees: {log: 'got (?P<key>SEES)'}
      env: {SHOP: north, CONFIG: $files/service.conf}
      files: {service.conf: service.template}
      ready: READY
      ready_within: WITHIN
steps:
  - start: a
  - settle: {ownership: g, within: 60s}
  - settle: {subscription: g, topic: orders, within: 60s}
STEPS
"""
CHECKS = """\
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 4}}]
"""
SENDS = """\
  - send: {topic: orders, tag: tagA, count: 4, per_queue: 1}
  - settle: {delivered: g, count: 4, topic: orders, within: 20s}
"""


Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(run_own: RunOwn, service: str, tmp_path: Path) -> Run:
    """Runs a program in this mode: what a command would return, and the run as `--json` tells it."""
    program = tmp_path / "service"
    program.write_text(service)
    program.chmod(0o755)
    (tmp_path / "service.template").write_text("for $nameserver")

    def of(
        mode: str,
        steps: str = SENDS,
        version: str = "4.9.4",
        ready: str = "{members: 1}",
        sees: str = r"\S+",
        checks: str = CHECKS,
        text: str = "",
        within: str = "60s",
    ) -> tuple[int, dict[str, Any]]:
        checks = checks if not text else ""
        text = (text or SCENARIO).replace("MODE", mode).replace("STEPS", steps).replace("READY", ready)
        text = text.replace("WITHIN", within)
        code, found = run_own(tmp_path, text.replace("SEES", sees) + checks, version)
        left = [item for item in psutil.process_iter() if str(program) in " ".join(_command(item))]
        assert left == []
        return code, found

    return of


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _start_here(run: dict[str, Any]) -> str:
    return (Path(run["run_dir"]) / "START-HERE.md").read_text()


@pytest.mark.parametrize("version", ["4.9.4", nightly("5.5.0")])
def test_its_lines_tell_what_it_handled_and_brokers_who_it_is(run: Run, version: str) -> None:
    code, found = run("plain", version=version, ready="{members: 1, log: '^mode plain'}")
    assert (code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
    received = events_of(found, "received")
    assert sorted(item["key"] for item in received) == [f"orders-{number}" for number in range(1, 5)]
    assert {item["line"] for item in received} == {f"got orders-{number}" for number in range(1, 5)}
    (started,) = events_of(found, "consumer-started")
    assert (started["client"], started["client_version"]) == ("command", "4.9.4")
    assert (started["filters_by"], started["raises_version"], started["tells_queues"]) == (
        "stored",
        True,
        True,
    )
    (told,) = events_of(found, "program-subscription")
    assert told["subscribe"] == {"orders": "tagA"}
    assert "mode plain in north of null" in log_of(found)
    assert "config for 127.0.0.1:" in log_of(found)


@pytest.mark.nightly
def test_lines_that_name_no_message_are_shown(run: Run) -> None:
    code, found = run("plain", sees="orders-")
    assert (code, found["outcome"]) == (3, "inconclusive")
    for word in (
        "0 delivered; `sees: {log: …}` finds 4 of the",
        "no message has the key 'orders-': 'got orders-",
    ):
        assert word in found["reason"]


WRITES = """\
name: own
title: programs of the user's own that write what they have handled
topics: {orders: {queues: 4}, handled: {queues: 4}}
consumers:
  a:
    group: g
    subscribe: {orders: tagA}
    app:
      command: [./service, $nameserver, MODE]
      sees: SEES
      env: {CONFIG: $files/service.conf}
      files: {service.conf: service.template}
  b:
    group: g
    subscribe: {orders: tagA}
    app:
      command: [./service, $nameserver, MODE]
      sees: SEES
      env: {CONFIG: $files/service.conf}
      files: {service.conf: service.template}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 60s}
  - send: {topic: orders, tag: tagA, count: 16, per_queue: 4}
STEPS
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 16}}]
"""


@pytest.mark.extended
@pytest.mark.nightly
@pytest.mark.parametrize("version", ["4.9.4", "5.5.0"])
def test_what_it_writes_into_a_topic_tells_what_it_handled(run: Run, version: str) -> None:
    steps = "  - settle: {delivered: g, count: 16, topic: orders, within: 60s}\n  - kill: a"
    text = WRITES.replace("SEES", "{topic: handled}").replace("STEPS", steps)
    code, found = run("writes", version=version, text=text)
    assert (code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
    received = events_of(found, "received")
    # After the kill, `b` may get once more what `a` has handled: a client commits its offsets every 5 s.
    assert len({item["key"] for item in received[:16]}) == 16
    assert all(item["line"] == item["key"] for item in received)
    assert {item["status"] for item in events_of(found, "consumed")} == {"WRITTEN"}
    assert "16 of 16 sent: a 8 (from broker-a:0, broker-a:1), b " in _start_here(found)


# The wait is its subject.
@pytest.mark.nightly
def test_a_limit_that_passes_says_how_many_entries_there_were(run: Run) -> None:
    steps = "  - settle: {delivered: g, count: 16, topic: orders, within: 20s}"
    sees = "{topic: handled, keys: 'done-(?P<key>.*)'}"
    text = WRITES.replace("SEES", sees)
    code, found = run("writes", text=text.replace("STEPS", steps))
    assert (code, found["outcome"]) == (3, "inconclusive")
    assert "0 delivered; 8 entries of a are written into handled; the last one: 'orders-" in found["reason"]


@pytest.mark.extended
@pytest.mark.parametrize(
    ("mode", "ready", "words"),
    [
        ("ends", "{members: 1}", ["the program of a has ended: exit code 1", "no database"]),
        # Each of these takes the whole limit of 20 s.
        nightly(
            "stranger",
            "{members: 1}",
            ["not become a member of its group g", "it has connections to", "broker-a"],
        ),
        nightly(
            "idle",
            "{members: 1}",
            ["not become a member of its group g within 20 s", "no connection to any server"],
        ),
        nightly(
            "plain", "{members: 2}", ["but not `ready` within 20 s: broker-a knows 1 of the 2 members of g"]
        ),
        nightly("plain", "{port: 1}", ["no process accepts connections on port 1"]),
        nightly("plain", "{log: 'Started'}", ["no line is found by 'Started'"]),
    ],
)
def test_a_program_that_is_never_ready_is_one_message(
    run: Run, mode: str, ready: str, words: list[str]
) -> None:
    code, found = run(mode, ready=ready, within="20s")
    assert (code, found["outcome"]) == (4, "error"), found["reason"]
    for word in words:
        assert word in found["reason"]


@pytest.mark.extended
def test_one_that_ends_later_says_its_last_words(run: Run) -> None:
    code, found = run("dies", '  - wait: {duration: 20s, because: "it ends meanwhile"}\n')
    assert (code, found["outcome"]) == (4, "error")
    assert "exit code 3" in found["reason"]
    assert "last words" in found["reason"]


@pytest.mark.extended
def test_it_is_paused_killed_and_ended_and_begins_anew(run: Run) -> None:
    steps = """\
  - pause: a
  - resume: a
  - kill: a
  - start: a
  - settle: {ownership: g, within: 180s}
  - terminate: a
  - start: a
  - settle: {ownership: g, within: 180s}
"""
    code, found = run("plain", SENDS + steps)
    assert (code, found["outcome"], found["trouble"]) == (1, "not-reproduced", None), found["reason"]
    assert len(events_of(found, "program-subscription")) == 3
    (proof,) = [item["proof"] for item in events_of(found, "fault-effective") if item["fault"] == "terminate"]
    # The script doesn't handle it, and the JVM that it started gets nothing.
    assert "was ended by SIGTERM, which it doesn't handle" in proof


@pytest.mark.extended
@pytest.mark.parametrize(
    ("script", "outcome", "words"),
    [
        ("echo 4 billed", "not-reproduced", "exit code 0; it printed: 4 billed"),
        nightly("echo 3 billed; exit 1", "reproduced", "exit code 1; it printed: 3 billed"),
        nightly("echo no database; exit 7", "inconclusive", "exit code 7; it printed: no database"),
    ],
)
def test_what_it_has_done_elsewhere_a_command_says(
    run: Run, tmp_path: Path, script: str, outcome: str, words: str
) -> None:
    (tmp_path / "billed").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "billed").chmod(0o755)
    checks = """\
anomaly: [{check-command: {command: [./billed], succeeds: false}}]
healthy: [{check-command: {command: [./billed]}}]
"""
    _, found = run("plain", version="5.5.0", checks=checks)
    assert found["outcome"] == outcome, found["reason"]
    (told,) = events_of(found, "command-observed")
    assert words in (Path(found["run_dir"]) / "START-HERE.md").read_text()
    assert told["command"] == ["./billed"]


@pytest.mark.nightly
@pytest.mark.extended
def test_a_program_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    text = (
        SCENARIO.replace("MODE", "plain")
        .replace("STEPS", SENDS)
        .replace("READY", "{members: 1}")
        .replace("WITHIN", "20s")
    )
    (tmp_path / "own.scenario.yaml").write_text(text.replace("SEES", "x") + CHECKS)
    ended = rocketchaos("run", "own.scenario.yaml", "--json", cwd=tmp_path)
    (found,) = ended.document["runs"]
    assert (ended.code, found["outcome"]) == (4, "error")
    assert f"the program doesn't exist: {tmp_path}/service" in found["reason"]
    (tmp_path / "service").touch(mode=0o755)
    ended = rocketchaos("run", "own.scenario.yaml", "--json", cwd=tmp_path)
    assert (
        f"the template of service.conf doesn't exist: {tmp_path}/service.template"
        in ended.document["runs"][0]["reason"]
    )


@pytest.mark.extended
def test_in_pytest_it_is_declared_in_one_line(
    rocketmq: LiveRun, service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "service").write_text(service)
    (tmp_path / "service").chmod(0o755)
    (tmp_path / "conf").write_text("x")
    rocketmq.topic("orders", queues=4)
    rocketmq.app(
        "a",
        command=["./service", "$nameserver", "plain"],
        sees={"log": r"got (?P<key>\S+)"},
        env={"CONFIG": "conf"},
        group="g",
    )
    rocketmq.start("a")
    rocketmq.settle(ownership="g", within="60s")
    rocketmq.send(topic="orders", tag="tagA", count=4, per_queue=1)
    rocketmq.settle(delivered="g", count=4, topic="orders", within="60s")
    rocketmq.terminate("a")
    rocketmq.check.delivered(to="a", count=4)
    rocketmq.check.check_command(command=["sh", "-c", "exit 0"])
    with pytest.raises(CheckFailed):
        rocketmq.check.undelivered(at_least=1)
