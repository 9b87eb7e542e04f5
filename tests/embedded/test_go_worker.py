"""The Go client on a real RocketMQ, beside Java's too, and as a worker that a user brings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from rocketchaos.harness.workers.go_program import go_program
from tests.embedded.command import ROOT, rocketchaos

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("go") is None, reason="needs a Go toolchain: apt install golang-go"),
    pytest.mark.usefixtures("on_shared_cluster"),
]
MANIFEST = """\
client: mine
title: a Go client that a user brings
version: '2.1.2'
command: [./worker]
apis:
  push: {implementation: PushConsumer, asks_process: true, process_tells_all: true}
"""
SCENARIO = """\
name: two
title: Retried, and by tags, one member killed
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, client: CLIENT, listener: LISTENER, behaviour: {fail: 1}, subscribe: {orders: tagA || tagB}}
  b: {group: g, client: java, listener: LISTENER, subscribe: {orders: tagA || tagB}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 90s}
  - send: {topic: orders, tags: [tagA, tagB, tagC], count: 24, per_queue: 6}
  - settle: {offsets: g, topic: orders, lag: 0, within: 90s}
  - pause: a
  - resume: a
  - kill: a
  - settle: {ownership: g, within: 90s}
anomaly:
  - undelivered: {count: 8, because: filtered-by-broker}
  - delivered: {to: g, count: 16}
healthy:
  - delivered: {to: g, count: 24}
also:
  - ownership: {of: b, topic: orders, count: 4}
expected: reproduced
"""


# Orderly, it waits twice for 60 s until the broker's lock of a queue ends: the Go client gives none back.
@pytest.mark.extended
@pytest.mark.parametrize("listener", ["concurrent", pytest.param("orderly", marks=pytest.mark.nightly)])
def test_a_go_and_a_java_client_in_one_group(tmp_path: Path, listener: str) -> None:
    """Retries, and a kill; then who of the two is stored."""
    scenario = SCENARIO.replace("CLIENT", "go").replace("LISTENER", listener)
    (tmp_path / "two.scenario.yaml").write_text(scenario)
    ended = rocketchaos(
        "run",
        tmp_path / "two.scenario.yaml",
        ROOT / "scenarios" / "go" / "go-outranks-java.scenario.yaml",
        "--json",
        cwd=tmp_path,
        limit_s=500,
    )
    runs = {run["scenario"]: run for run in ended.document["runs"]}
    assert {name: run["outcome"] for name, run in runs.items()} == {
        "two": "reproduced",
        "go-outranks-java": "reproduced",
    }, [run["reason"] for run in runs.values()]
    assert ended.code == 0
    folder = Path(runs["go-outranks-java"]["run_dir"])
    (log,) = (folder / "logs" / "a").glob("*.log")
    assert "the consumer start beginning" in log.read_text()


OLDER = """\
name: older
title: Each version of the Go client beside a Java one
topics: {orders: {queues: 4}}
consumers:
  a: {group: g, client: go@VERSION, behaviour: {fail: 1}, subscribe: {orders: tagA}}
  b: {group: g, client: java, subscribe: {orders: tagA}}
steps:
  - start: [a, b]
  - settle: {ownership: g, within: 60s}
  - send: {topic: orders, tag: tagA, count: 8, per_queue: 2}
  - settle: {retried: a, count: 4, within: 60s}
  - settle: {delivered: b, count: 4, within: 60s}
  - kill: a
  - settle: {ownership: g, within: 60s}
anomaly:
  - delivered: {to: g, at_most: 7}
healthy:
  - delivered: {to: a, count: 4}
  - delivered: {to: b, at_least: 4}
also:
  - ownership: {of: b, topic: orders, count: 4}
  - log: {consumer: a, matches: the consumer start beginning, at_least: 1}
expected: not-reproduced
"""


@pytest.mark.nightly
def test_each_version_of_the_go_client_consumes_beside_java(tmp_path: Path) -> None:
    versions = ("2.0.0", "2.1.0", "2.1.1")
    for version in versions:
        scenario = OLDER.replace("VERSION", version).replace(
            "name: older", f"name: go-{version.replace('.', '-')}"
        )
        (tmp_path / f"{version}.scenario.yaml").write_text(scenario)
    ended = rocketchaos("run", tmp_path, "--rocketmq", "4.9.4", "--json", cwd=tmp_path, limit_s=500)
    runs = ended.document["runs"]
    assert [run["outcome"] for run in runs] == ["not-reproduced"] * 3, [run["reason"] for run in runs]
    assert ended.code == 0
    told = {run["cell"]["client"] for run in runs}
    assert told == {f"go@{version}+java" for version in versions}


@pytest.mark.extended
def test_a_callback_without_a_result_is_no_acknowledgement(tmp_path: Path) -> None:
    """2.1.0 calls it without an error, and with an empty result, where a broker refuses the message."""
    properties = ", ".join(f"long{number}: {'x' * 1000}" for number in range(33))
    (tmp_path / "nothing.scenario.yaml").write_text(
        f"""\
name: nothing
title: Properties beyond 32 KB
topics: {{orders: {{queues: 1}}}}
groups: g
producer: {{client: go@2.1.0}}
steps:
  - send: {{topic: orders, count: 1, async: true, may_fail: true, properties: {{{properties}}}}}
anomaly:
  - send-refused: {{topic: orders, count: 1, because: a result without a queue}}
healthy:
  - send-refused: {{topic: orders, count: 0}}
"""
    )
    ended = rocketchaos("run", tmp_path / "nothing.scenario.yaml", "--json", cwd=tmp_path, limit_s=300)
    (run,) = ended.document["runs"]
    assert run["outcome"] == "reproduced", run["reason"]


@pytest.mark.extended
def test_a_worker_that_a_user_brings_is_a_client_as_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my worker"
    folder.mkdir()
    (folder / "worker.yaml").write_text(MANIFEST)
    shutil.copy(go_program("2.1.2").command[0], folder / "worker")
    monkeypatch.setenv("ROCKETCHAOS_WORKERS", os.fspath(folder))
    scenarios = ROOT / "scenarios" / "tags"
    ended = rocketchaos(
        "run", scenarios, "-k", "same-group-different-tags or same-group-same-tags", "--matrix", "clients=mine",
        "rocketmq=4.9.4", "--json", cwd=tmp_path, limit_s=300,
    )  # fmt: skip
    runs = ended.document["runs"]
    assert {run["scenario"]: run["outcome"] for run in runs} == {
        "same-group-different-tags": "reproduced",
        "same-group-different-tags-other-order": "reproduced",
        "same-group-same-tags": "not-reproduced",
    }, [run["reason"] for run in runs]


@pytest.mark.extended
def test_without_a_toolchain_a_run_says_so_and_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if shutil.which("go") is not None:
        pytest.skip("its Go is in /usr/bin, which can't be left out of the PATH")
    scenarios = ROOT / "scenarios" / "tags" / "same-group-same-tags.scenario.yaml"
    ended = rocketchaos(
        "run", scenarios, "--matrix", "clients=java,go", "rocketmq=4.9.4", "--json", cwd=tmp_path, limit_s=300
    )
    assert ended.code == 4
    outcomes = {run["client"].split()[0]: run for run in ended.document["runs"]}
    assert outcomes["java"]["outcome"] == "not-reproduced"
    assert outcomes["go"]["outcome"] == "error"
    assert "needs a Go toolchain" in outcomes["go"]["reason"]
