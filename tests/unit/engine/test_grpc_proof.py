"""A proxy is tried before the first client speaks gRPC to it. The cluster and its workers are doubles."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.cluster.base import Proxy
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.engine import managed_cluster
from rocketchaos.harness.engine.managed_cluster import ManagedCluster
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.workers.processes import Processes
from tests.unit.history_builder import scenario_of

SCENARIO = """\
name: own
title: a client behind a proxy
topics: {{orders: {{queues: 4}}}}
consumers: {{a: {{group: g, subscribe: {{orders: tagA}}{more}}}}}
steps:
  - start: a
  - send: {{topic: orders, tag: tagA, count: 1}}
anomaly: {{delivered: {{to: g, count: 0}}}}
healthy: {{delivered: {{to: g, count: 1}}}}
"""
PROGRAM = r", app: {command: [./audit, $proxy], sees: {log: 'audited (?P<key>\S+)'}}"
PROXY = Proxy("local", "127.0.0.1:8081", "127.0.0.1:8080")


def scenario(more: str) -> Scenario:
    return scenario_of(SCENARIO.format(more=more))


@dataclass(eq=False)
class DoubleOfProcesses:
    """Spawns nothing, or refuses to."""

    missing: EnvironmentNotReady | None = None
    spawned: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    timing: str = "compressed"
    reaper: Any = field(default_factory=lambda: SimpleNamespace(owner="owner"))

    def scratch(self, owner: str) -> Path:
        return Path("scratch") / owner

    def progress(self, text: str) -> None:
        self.said.append(text)

    def spawn(self, kind: str, *_unused: object, **_more: object) -> Any:
        if self.missing is not None:
            raise self.missing
        self.spawned.append(kind)
        return SimpleNamespace(release=lambda: None)


@pytest.fixture
def proven(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The endpoints that were tried."""
    tried: list[str] = []
    monkeypatch.setattr(
        managed_cluster, "prove_grpc", lambda _worker, _admin, endpoint, *_others: tried.append(endpoint)
    )
    return tried


def cluster_of(processes: DoubleOfProcesses, monkeypatch: pytest.MonkeyPatch) -> ManagedCluster:
    made = ManagedCluster(cast(Processes, processes), "5.5.0", cast(Any, None))
    cluster = SimpleNamespace(proxy=PROXY, nodes=[])
    monkeypatch.setattr(made, "ready", lambda: (cluster, None))
    monkeypatch.setattr(made, "worker_home", lambda _scenario: None)
    return made


@pytest.mark.parametrize("more", [PROGRAM, ", client: grpc"])
def test_the_first_of_its_clients_finds_a_proxy_that_serves(
    more: str, proven: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = DoubleOfProcesses()
    cluster = cluster_of(processes, monkeypatch)
    cluster.prove_grpc(scenario(more))
    cluster.prove_grpc(scenario(more))
    assert processes.spawned == ["grpc"]
    assert proven == [PROXY.grpc_endpoint]


def test_without_the_packages_a_program_runs_and_a_client_of_ours_does_not(
    proven: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = DoubleOfProcesses(EnvironmentNotReady("no network"))
    cluster_of(processes, monkeypatch).prove_grpc(scenario(PROGRAM))
    assert processes.said == ["the proxy isn't tried with a gRPC client first: no network"]
    with pytest.raises(EnvironmentNotReady, match="no network"):
        cluster_of(processes, monkeypatch).prove_grpc(scenario(", client: grpc"))
    assert not proven


@pytest.mark.parametrize("more", ["", ", through: proxy, model: clustering"])
def test_remoting_clients_alone_need_none(more: str) -> None:
    assert scenario(more).grpc_choice is None
