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
