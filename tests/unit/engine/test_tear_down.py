"""The end of a run ends each of its processes, also where one of them resists."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.events.run import RunTrouble
from rocketchaos.harness.core.history import History
from rocketchaos.harness.engine.test_bed import TestBed
from tests.unit.history_builder import scenario_of

SCENARIO = """\
name: ends
title: ends
topics: {orders: {queues: 2}}
consumers:
  a: {group: g, subscribe: {orders: '*'}}
  b: {group: g, subscribe: {orders: '*'}}
steps: [start: [a, b]]
anomaly: [{undelivered: {at_least: 1}}]
healthy: [{delivered: {to: g, count: 1}}]
"""


class Client:
    """What a test bed asks of a client at the end."""

    def __init__(self, resists: bool = False) -> None:
        self.resists, self.released = resists, False

    def release(self) -> None:
        self.released = True
        if self.resists:
            raise EnvironmentNotReady("worker a was killed 10 s ago and still runs")


@pytest.mark.parametrize("resists", [False, True])
def test_a_process_that_resists_keeps_no_other_alive(tmp_path: Path, resists: bool) -> None:
    processes = SimpleNamespace(
        workers=SimpleNamespace(tenancy=lambda _token: SimpleNamespace(end=lambda _logs: None)),
        unfinished={"token"},
    )
    managed = SimpleNamespace(processes=processes, interrupted=None)
    history = History("run", tmp_path / "events.jsonl")
    folder, names = SimpleNamespace(logs=tmp_path), SimpleNamespace(token="token")
    bed = TestBed(
        scenario_of(SCENARIO),
        cast(Any, managed),
        cast(Any, folder),
        history,
        cast(Any, names),
        all_own=False,
    )
    a, b, producer = Client(resists), Client(), Client()
    bed._consumers, bed._producers = cast(Any, {"a": a, "b": b}), cast(Any, {"producer": producer})
    bed.tear_down()
    assert all(client.released for client in (a, b, producer))
    assert processes.unfinished == ({"token"} if resists else set())
    noted = [event.body.message for event in history.events if isinstance(event.body, RunTrouble)]
    assert noted == (["worker a was killed 10 s ago and still runs"] if resists else [])
