"""The checks of workers: ours pass them, and a program that says yes to everything fails each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rocketchaos.harness.cluster.embedded import EmbeddedCluster
from rocketchaos.harness.conformance import bench as bench_module
from rocketchaos.harness.conformance import checks as checks_module
from rocketchaos.harness.conformance.bench import Bench, NotSo
from rocketchaos.harness.conformance.checks import CHECKS
from rocketchaos.harness.core.errors import RocketchaosError
from rocketchaos.harness.rocketmq.client_kinds import CLIENT_KINDS
from rocketchaos.harness.workers.on_host import OnHost
from rocketchaos.harness.workers.own_program import OwnProgram
from rocketchaos.harness.workers.worker import OnDeath, OnEvent, Worker
from rocketchaos.harness.workers.worker_kinds import WorkerKind
from tests.embedded.command import ROOT, rocketchaos
from tests.embedded.workbench import Bench as Workbench

pytestmark = [pytest.mark.embedded, pytest.mark.extended]
YES = ROOT / "tests" / "unit" / "workers" / "children" / "worker_yes.py"


@pytest.fixture
def yes(
    cluster: EmbeddedCluster, bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    for module in (bench_module, checks_module):
        monkeypatch.setattr(module, "LIMIT_S", 1.0)
    monkeypatch.setattr(checks_module, "_STOP_LIMIT_S", 1.0)
    kind = CLIENT_KINDS["java"]
    api = replace(kind.apis["push"], asks_process=True)
    program = OwnProgram((sys.executable, str(YES)), YES.parent)

    def spawn(name: str, on_event: OnEvent, on_death: OnDeath) -> Worker:
        return Worker.spawn(
            WorkerKind("yes", "", None),
            name,
            home=OnHost("tests"),
            log_folder=tmp_path,
            on_event=on_event,
            on_death=on_death,
            program=program,
        )

    made = Bench(kind, api, cluster, bench.admin, spawn)
    yield made
    made.release()


@pytest.mark.parametrize("check", [name for name in CHECKS if name != "ends-with-its-input"])
def test_each_check_fails_where_nothing_is_done(yes: Bench, check: str) -> None:
    with pytest.raises((NotSo, RocketchaosError)):
        CHECKS[check](yes)


def test_a_program_that_outlives_its_input_fails(yes: Bench) -> None:
    with pytest.raises(NotSo, match="still ran, and was killed"):
        CHECKS["ends-with-its-input"](yes)


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize("client", ["go", "java", "python", "grpc", "grpc-java"])
def test_our_own_workers_pass(tmp_path: Path, client: str) -> None:
    version = "5.5.0" if client.startswith("grpc") else "4.9.4"
    ended = rocketchaos("worker", "test", client, "--rocketmq", version, cwd=tmp_path, limit_s=550)
    assert ended.code == 0, ended.out
