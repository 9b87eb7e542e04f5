"""Users' programs with a gRPC client, on a real RocketMQ with a proxy."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from rocketchaos.harness.workers.client_packages import packages_folder
from tests.embedded.users_programs import RunOwn, events_of, grpc_program

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(300)]

GRPC_PROGRAM = """\
import signal, sys, threading
from rocketmq import ClientConfiguration, ConsumeResult, Credentials, FilterExpression
from rocketmq import MessageListener, PushConsumer

class Audit(MessageListener):
    def consume(self, message):
        print("audited " + " ".join(message.keys) + "\\n", end="")
        return ConsumeResult.SUCCESS

endpoint, group, tag = sys.argv[1:]
consumer = PushConsumer(
    ClientConfiguration(endpoint, Credentials()), group, Audit(), {"orders": FilterExpression(tag)}
)
consumer.startup()
ended = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: ended.set())
ended.wait()
consumer.shutdown()
"""
GRPC_SCENARIO = r"""
name: own
title: a program with a gRPC client
topics: {orders: {queues: 4}}
consumers:
  a:
    group: g
    subscribe: {orders: tagA}
    app:
      command: [INTERPRETER, audit.py, $proxy, g, tagA]
      sees: {log: 'audited (?P<key>\S+)'}
      env: {PYTHONPATH: PACKAGES}
steps:
  - start: a
  - send: {topic: orders, tag: tagA, count: 4, per_queue: 1}
  - settle: {delivered: g, topic: orders, count: 4, within: 60s}
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 4}}]
expected: {command: not-reproduced}
"""


@pytest.mark.extended
@pytest.mark.parametrize("proxy", ["local", pytest.param("cluster", marks=pytest.mark.nightly)])
@pytest.mark.nightly
def test_a_program_with_a_grpc_client_speaks_to_the_proxy(
    run_own: RunOwn, tmp_path: Path, proxy: str
) -> None:
    (tmp_path / "audit.py").write_text(GRPC_PROGRAM)
    text = GRPC_SCENARIO.replace("INTERPRETER", sys.executable).replace(
        "PACKAGES", str(packages_folder("client-grpc"))
    )
    code, found = run_own(tmp_path, f"{text}cluster: {{proxy: {proxy}}}\n", "5.3.3")
    assert (code, found["outcome"], found["trouble"]) == (0, "not-reproduced", None), found["reason"]


@pytest.mark.nightly
def test_a_grpc_client_with_tls_is_none_of_the_remoting_clients(run_own: RunOwn, tmp_path: Path) -> None:
    main, jars = grpc_program(tmp_path / "classes")
    command = json.dumps(["java", "-cp", ":".join(map(str, jars)), main])
    text = GRPC_SCENARIO.replace("[INTERPRETER, audit.py, ", f"{command[:-1]}, ")
    code, found = run_own(tmp_path, text, "5.3.3")
    assert (code, found["outcome"], found["trouble"]) == (0, "not-reproduced", None), found["reason"]
    (started,) = events_of(found, "consumer-started")
    assert started["client_version"] == "java"
    # Only what answers 307 as the remoting clients do has that trait.
    assert "tells_queues" not in started
    (own,) = events_of(found, "program-subscription")
    assert own["subscribe"] == {"orders": "tagA"}
