"""The RocketMQ module for testcontainers-python: its own tests, a real client, and `diagnose` by mapped ports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.images import Images
from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.testcontainers_rocketmq import RocketMQContainer
from tests.embedded.command import ROOT, rocketchaos

pytestmark = pytest.mark.containers

MODULE = ROOT / "docker" / "testcontainers_rocketmq"
CLIENT = """
import json, sys
import jpype
namesrv, *jars = sys.argv[1:]
jpype.startJVM("-Xmx128m", "-Drocketmq.client.logUseSlf4j=false", classpath=jars)
java = jpype.JPackage("org").apache.rocketmq
LIMIT_MS = 30_000  # of a send; on a busy machine the first one to a new broker takes longer than the default, 3 s
producer = java.client.producer.DefaultMQProducer("senders")
producer.setNamesrvAddr(namesrv)
producer.start()
consumer = java.client.consumer.DefaultLitePullConsumer("readers")
try:
    sent = [
        producer.send(
            java.common.message.Message("orders", "tagA", jpype.JString(f"body {n}").getBytes()), LIMIT_MS
        )
        for n in range(4)
    ]
    queues = sorted({str(one.getMessageQueue().getBrokerName()) for one in sent})
    consumer.setNamesrvAddr(namesrv)
    consumer.setConsumeFromWhere(java.common.consumer.ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
    consumer.subscribe("orders", "*")
    consumer.start()
    got = []
    for _ in range(60):
        got += [str(message.getMsgId()) for message in consumer.poll(1000)]
        if len(got) >= 4:
            break
    statuses = [str(one.getSendStatus()) for one in sent]
    print(json.dumps({"sent": statuses, "got": len(set(got)), "brokers": queues}))
finally:
    # Their threads would keep the process alive after an exception.
    consumer.shutdown()
    producer.shutdown()
"""


def image(engine: Engine, version: str) -> str:
    return Images(engine, print).rocketmq(version).name


# They start a broker each, for more than a minute.
@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_the_module_s_own_tests_pass(engine: Engine) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:rocketchaos",
         "--rootdir", str(MODULE), "-c", os.devnull, "--import-mode=importlib", str(MODULE / "tests")],
        env={**os.environ, "TC_ROCKETMQ_IMAGE": image(engine, "5.5.0"),
             "TC_ROCKETMQ_IMAGE_4": image(engine, "4.9.4")},
        capture_output=True, text=True, check=False, timeout=880,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert " passed" in ended.stdout
    assert "skipped" not in ended.stdout


def test_a_java_client_sends_and_gets_and_diagnose_finds_nothing_wrong(
    engine: Engine, tmp_path: Path
) -> None:
    with RocketMQContainer(image(engine, "4.9.4")) as rocketmq:
        namesrv = rocketmq.get_namesrv_address()
        jars = [str(jar) for jar in classpath("4.9.4", "client")]
        ended = subprocess.run(
            [sys.executable, "-c", CLIENT, namesrv, *jars],
            cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True,
            check=False, timeout=120,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stdout + ended.stderr
        told = json.loads(ended.stdout.splitlines()[-1])
        assert told == {"sent": ["SEND_OK"] * 4, "got": 4, "brokers": ["broker-a"]}
        diagnosed = rocketchaos("diagnose", "--namesrv", namesrv, "--output", "json", cwd=tmp_path)
        assert diagnosed.code == 0, diagnosed.out + diagnosed.err
        assert diagnosed.document["name_servers"] == [namesrv]
        assert "readers" in diagnosed.document["groups"]
