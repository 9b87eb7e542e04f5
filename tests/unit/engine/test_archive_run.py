"""An archive run is none of a run's business: whatever keeps it from making archives, the run begins."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import filelock
import pytest

from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.core import paths
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.engine import archive_run
from rocketchaos.harness.engine.runner import Runner
from rocketchaos.harness.jars.class_archive import SWITCH, ClassArchive
from rocketchaos.harness.jars.java_home import Java
from rocketchaos.harness.plan.options import Options


class Stand:
    """What an archive run takes of the processes of a command, and how often it was played."""

    def __init__(self, folder: Path) -> None:
        libjvm = folder / "libjvm.so"
        for file in (libjvm, folder / "classes.jsa", folder / "a.jar"):
            file.write_bytes(b"x")
        self.java = Java(folder, folder / "java", 17, "JAVA_HOME", libjvm, True)
        self.jars = (folder / "a.jar",)
        self.folder = folder
        self.said: list[str] = []
        self.plays = 0
        self.failure: Exception | None = None
        self.processes: Any = SimpleNamespace(
            java=self.java,
            progress=self.said.append,
            reaper=SimpleNamespace(owner="owner"),
            scratch=self.scratch,
            timing=None,
        )

    def scratch(self, owner: str) -> Path:
        (self.folder / owner).mkdir(exist_ok=True)
        return self.folder / owner

    def make(self) -> int:
        """How often it was played by now."""
        archive_run.make_archives(self.processes, "4.9.4")
        return self.plays


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    stand = Stand(tmp_path)

    class Play:
        def __init__(
            self, _processes: Any, _version: str, missing: Any, folder: Path, *, proxy: bool
        ) -> None:
            self.missing: list[ClassArchive] = missing
            assert folder.is_dir()

        def make(self) -> None:
            stand.plays += 1
            if stand.failure is not None:
                raise stand.failure

    monkeypatch.setenv(paths.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(archive_run, "classpath", lambda *_unused: stand.jars)
    monkeypatch.setattr(archive_run, "with_jpype", lambda jars: jars)
    monkeypatch.setattr(archive_run, "_ArchiveRun", Play)
    return stand


def test_it_is_played_where_archives_are_missing_and_says_so(stand: Stand) -> None:
    assert stand.make() == 1
    assert stand.said == ["preparing fast starts of RocketMQ 4.9.4, once"]
    assert not (stand.folder / "owner" / "archive-run").exists()


def test_one_that_fails_stops_no_run_and_is_not_played_again_that_day(stand: Stand) -> None:
    stand.failure = EnvironmentNotReady("broker-a could not be started")
    assert stand.make() == 1
    assert stand.make() == 1
    notes = {file.read_text() for file in paths.archives_folder().glob("*.failed")}
    assert notes == {"broker-a could not be started\n"}


def test_another_process_that_is_at_it_is_not_waited_for(stand: Stand) -> None:
    with filelock.FileLock(paths.archives_folder() / "lock"):
        assert stand.make() == 0
    assert stand.make() == 1


def test_a_busy_machine_is_left_alone(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 1000.0, 1000.0))
    assert stand.make() == 0


def test_it_can_be_turned_off(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    assert stand.make() == 0


@pytest.mark.parametrize(("on", "played"), [(ClusterKind.EMBEDDED, 1), (ClusterKind.CONTAINERS, 0)])
def test_runs_have_one_before_them_where_their_servers_are_on_this_host(
    stand: Stand, tmp_path: Path, on: ClusterKind, played: int
) -> None:
    runner = Runner(Options(runs=tmp_path, use_running=False, on=on))
    runner._make_archives(stand.processes, "4.9.4")
    assert stand.plays == played
