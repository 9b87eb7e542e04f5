"""The table of faults says what clusters can do, and names every fault and every act on servers."""

from __future__ import annotations

from pathlib import Path

from rocketchaos.harness.nightly.operations import OPERATIONS
from rocketchaos.harness.reference.faults_table import ROWS, table

ROOT = Path(__file__).parents[3]
FAULTS = ROOT / "harness" / "faults"


def test_every_fault_has_a_row() -> None:
    modules = {row.fault.__module__.rpartition(".")[2] for row in ROWS if row.fault is not None}
    others = {"__init__", "base", "context", "network", "process", "rules", "sidecar_trials"}
    assert {file.stem for file in FAULTS.glob("*.py")} - others == modules


def test_the_page_has_the_table() -> None:
    assert table() in (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")


def test_every_operation_on_servers_has_a_row() -> None:
    named = {name for row in ROWS for name in row.operations}
    of_processes = {
        f"{fault}{whose}" for fault in ("kill", "terminate", "pause") for whose in ("", "-producer")
    }
    assert named >= {name for name, each in OPERATIONS.items() if each.on_nodes} | of_processes


def test_listeners_and_comings_and_goings_are_in_it_and_every_row_says_what_shows_it() -> None:
    drawn = {name for row in ROWS for name in row.drawn}
    assert drawn >= {"behaviour", "join", "wave", "rolling"}
    assert all(row.proof for row in ROWS)
    assert {row.behaviour for row in ROWS} >= {"{slow: 50ms}", "{fail: 1}", "block"}


def test_processes_can_be_killed_everywhere_and_the_network_cut_in_containers_alone() -> None:
    lines = {line.split(" | ")[0].removeprefix("| "): line.split(" | ")[1:3] for line in table().splitlines()}
    assert lines["fault"] == ["embedded", "containers"]
    assert lines["SIGKILL of a broker"] == ["yes", "yes"]
    assert lines["a partition of the network"] == ["–", "yes"]
