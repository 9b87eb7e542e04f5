"""`lose-files`: what it deletes, what it leaves, and when it can't."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.cluster.base import Losing
from rocketchaos.harness.core.errors import PreconditionNotMet
from rocketchaos.harness.core.history import History
from rocketchaos.harness.scenario import InvalidScenario, parse_scenario
from rocketchaos.harness.steps import STEPS
from tests.unit.scenario.examples import VALID


class Stored:
    """Has a store, and nothing else of a cluster."""

    def __init__(self, store: Path) -> None:
        self._store = store

    def store(self, name: str) -> Path:
        assert name == "broker-a"
        return self._store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for file in ("config/topics.json", "config/topics.json.bak", "config/other.json", "commitlog/0", "abort"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    return tmp_path


def lose(store: Path, files: object, **more: object) -> History:
    cluster = Stored(store)
    assert isinstance(cluster, Losing)
    context = SimpleNamespace(history=History("run"), servers=SimpleNamespace(cluster=cluster))
    STEPS["lose-files"].model_validate({"broker": "broker-a", "files": files, **more}).run(cast(Any, context))
    return context.history


@pytest.mark.parametrize(
    ("files", "lost", "left"),
    [
        (
            "abort",
            ["abort"],
            ["commitlog/0", "config/other.json", "config/topics.json", "config/topics.json.bak"],
        ),
        (
            ["config/topics.json*", "commitlog"],
            ["config/topics.json", "config/topics.json.bak", "commitlog"],
            ["abort", "config/other.json"],
        ),
        ("*", ["abort", "commitlog", "config"], []),
    ],
    ids=str,
)
def test_files_and_folders_are_gone_and_named(
    store: Path, files: object, lost: list[str], left: list[str]
) -> None:
    event = lose(store, files).events[-1]
    assert (event.kind, event.node) == ("files-lost", "harness")
    assert event.data == {"broker": "broker-a", "files": lost}
    assert sorted(str(file.relative_to(store)) for file in store.rglob("*") if file.is_file()) == left


def test_a_file_may_be_cut_and_stays(store: Path) -> None:
    (store / "commitlog/0").write_bytes(b"abcdef")
    (store / "config/other.json").write_bytes(b"{}")
    event = lose(store, ["commitlog", "config/other.json"], keep_bytes=4).events[-1]
    assert event.data == {
        "broker": "broker-a",
        "files": ["commitlog", "config/other.json"],
        "keep_bytes": 4,
    }
    assert (store / "commitlog/0").read_bytes() == b"abcd"
    assert (store / "config/other.json").read_bytes() == b"{}"
    lose(store, "config/other.json", keep_bytes=0)
    assert (store / "config/other.json").read_bytes() == b""


def test_what_is_not_there_can_not_be_lost(store: Path) -> None:
    with pytest.raises(
        PreconditionNotMet, match=r"has no config/topic\.json; it has: abort, commitlog/0, conf"
    ):
        lose(store, ["abort", "config/topic.json"])
    assert (store / "abort").exists()


@pytest.mark.parametrize("path", ["/etc/hosts", "../broker-b", "config/../..", "."])
def test_only_what_is_below_the_store(path: str) -> None:
    steps = f"steps:\n  - kill: broker-a\n  - lose-files: {{broker: broker-a, files: '{path}'}}\n"
    with pytest.raises(InvalidScenario, match="is not below the store"):
        parse_scenario(VALID.replace("steps:\n", steps), "s.yaml")


def test_a_broker_that_runs_loses_nothing() -> None:
    steps = "steps:\n  - lose-files: {broker: broker-a, files: abort}\n"
    with pytest.raises(
        InvalidScenario, match="broker-a runs from the beginning on; it must be stopped or killed"
    ):
        parse_scenario(VALID.replace("steps:\n", steps), "s.yaml")


BROADCASTING = """\
name: offsets-file
title: a consumer loses its own offsets
topics: {orders: {queues: 1}}
consumers:
  a: {group: g, model: broadcasting, subscribe: {orders: '*'}}
steps:
  - start: a
  - kill: a
  - lose-files: {consumer: a, files: '**/offsets.json*'}
anomaly: {duplicated: {to: a, at_least: 1}}
healthy: {duplicated: {to: a, count: 0}}
"""


@pytest.mark.parametrize(
    ("more", "folder"),
    [("", "a/offsets"), (", instance: default", "offsets-of-the-host"), (", process: own", "a/offsets")],
)
def test_a_consumer_that_broadcasts_loses_its_own_offsets(tmp_path: Path, more: str, folder: str) -> None:
    file = tmp_path / folder / "id@1/g/offsets.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"offsetTable":{}}')
    scenario = parse_scenario(BROADCASTING.replace("broadcasting", f"broadcasting{more}", 1), "s.yaml")
    variables = SimpleNamespace(resolve=lambda names: names)
    context = SimpleNamespace(
        history=History("run"), scenario=scenario, variables=variables, logs=SimpleNamespace(folder=tmp_path)
    )
    (*_, step) = scenario.steps
    step.run(cast(Any, context))
    event = context.history.events[-1]
    assert event.data == {"consumer": "a", "files": ["id@1/g/offsets.json"]}
    assert not file.exists()


@pytest.mark.parametrize(
    ("was", "becomes", "message"),
    [
        ("{consumer: a,", "{consumer: a, broker: broker-a,", "give exactly one of `broker` and `consumer`"),
        ("{consumer: a,", "{", "give exactly one of `broker` and `consumer`"),
        (
            "model: broadcasting, ",
            "",
            "a has no files of offsets: brokers store those of a clustering consumer",
        ),
        ("title: a", "workers: containers\ntitle: a", "leave out `workers: containers`"),
        ("  - kill: a\n", "", "a is running since line 7; it must be stopped or killed"),
    ],
)
def test_a_consumer_without_such_files_loses_none(was: str, becomes: str, message: str) -> None:
    with pytest.raises(InvalidScenario, match=message.replace("`", ".")):
        parse_scenario(BROADCASTING.replace(was, becomes), "s.yaml")


def test_offsets_of_another_client_are_out_of_reach() -> None:
    text = BROADCASTING.replace("group: g,", "group: g, client: go,")
    reason = str(parse_scenario(text, "s.yaml").why_not_on("5.5.0"))
    assert reason.endswith("rocketmq-client-go keeps its offsets where this step can't reach them")
