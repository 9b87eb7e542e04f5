"""A container image of a user's with a gRPC client, on a real RocketMQ with a proxy."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rocketchaos.harness.containers.container_engine import Engine
from rocketchaos.harness.containers.images import Images
from tests.embedded.command import rocketchaos
from tests.embedded.users_programs import grpc_program

pytestmark = [pytest.mark.containers, pytest.mark.timeout(300)]

SCENARIO = """\
name: audit
title: an image with a gRPC client, which speaks TLS
topics: {orders: {queues: 4}}
consumers:
  audit-1:
    group: audit
    subscribe: {orders: paid}
    app: {image: IMAGE, args: [$proxy, audit, paid], sees: {log: 'audited (?P<key>\\S+)'}}
steps:
  - start: audit-1
  - send: {topic: orders, tag: paid, count: 8, per_queue: 2}
  - settle: {delivered: audit, topic: orders, count: 8, within: 60s}
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: audit, count: 8}}]
expected: {image: not-reproduced}
"""


@pytest.mark.nightly
def test_an_image_with_a_grpc_client_speaks_to_the_proxy(engine: Engine, tmp_path: Path) -> None:
    main, jars = grpc_program(tmp_path / "classes")
    (tmp_path / "jars").mkdir()
    for jar in jars[1:]:
        shutil.copy(jar, tmp_path / "jars")
    base = Images(engine, print).rocketmq("5.5.0").name
    entry = json.dumps(["java", "-cp", "/audit:/jars/*", main])
    (tmp_path / "Dockerfile").write_text(
        f"FROM {base}\nCOPY classes/ /audit/\nCOPY jars/ /jars/\nENTRYPOINT {entry}\n"
    )
    image = "rocketchaos-tests/audit:1"
    engine.client.images.build(path=str(tmp_path), tag=image, rm=True)
    (tmp_path / "audit.scenario.yaml").write_text(SCENARIO.replace("IMAGE", image))
    try:
        ended = rocketchaos(
            *("run", "audit.scenario.yaml", "--on", "containers", "--rocketmq", "5.5.0", "--json"),
            cwd=tmp_path,
            limit_s=280,
        )
    finally:
        engine.client.images.remove(image, force=True)
    assert ended.out, ended.err
    (found,) = ended.document["runs"]
    assert (ended.code, found["outcome"], found["trouble"]) == (0, "not-reproduced", None), found["reason"]
