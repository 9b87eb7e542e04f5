"""A command loads what it uses, and nothing else: what is loaded by mistake makes every command slow.

Not timed: each command runs in a process of its own, which tells what it has loaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketchaos.harness.plan.library import shipped

ROOT = Path(__file__).resolve().parents[3]
TOLD = """
import json, sys
from rocketchaos.harness.cli.main import main
code = main(sys.argv[1:])
print("\\n" + json.dumps({"code": code, "modules": sorted(sys.modules)}))
"""
SCENARIO = "same-group-different-tags"
HEAVY = {
    *("docker", "testcontainers", "requests", "urllib3", "jpype", "jgo", "tenacity", "psutil", "jinja2"),
    *("pyspark", "delta", "plotly", "scipy", "pandas", "numpy", "rocketchaos.spark_reports"),
    *("_pytest", "pytest"),
}
"""No command that only looks at files needs one of these."""
RUNNING = (
    *(
        "rocketchaos.harness.engine.runner",
        "rocketchaos.harness.clients",
        "rocketchaos.harness.conditions",
        "rocketchaos.harness.containers",
        "rocketchaos.harness.engine.context",
    ),
    *(
        "rocketchaos.harness.faults",
        "rocketchaos.harness.reaper.reaper",
        "rocketchaos.harness.probes",
        "rocketchaos.harness.engine.run",
        "rocketchaos.harness.workers",
    ),
    *(
        "rocketchaos.harness.cluster.container_cluster",
        "rocketchaos.harness.cluster.embedded",
        "rocketchaos.harness.cluster.server_cluster",
    ),
    *(
        "rocketchaos.harness.rocketmq.remoting",
        "rocketchaos.harness.cluster.running",
        "rocketchaos.harness.reporting",
        "rocketchaos.harness.nightly",
    ),
)
"""What a run needs, and reading a scenario doesn't."""


def loaded_by(*arguments: str) -> set[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    command = [sys.executable, "-P", "-c", TOLD, *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    shown = json.loads(ended.stdout.splitlines()[-1])
    assert shown["code"] == 0, ended.stdout + ended.stderr
    return set(shown["modules"])


def within(modules: set[str], *packages: str) -> set[str]:
    return {
        module
        for module in modules
        if any(module == name or module.startswith(f"{name}.") for name in packages)
    }


IMPORTED = """
import importlib, json, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps(sorted(sys.modules)))
"""


EVERY_WORD = """
import json, sys
import rocketchaos.harness.scenario
from rocketchaos.assertions import CHECKS
from rocketchaos.harness.steps import STEPS
assert len([*STEPS.values(), *CHECKS.values()]) > 50
print(json.dumps(sorted(sys.modules)))
"""


CHOSEN = """
import json, sys
from rocketchaos.harness.cluster.cluster_kinds import ClusterKind
from rocketchaos.harness.engine.cluster_choice import Making
Making(ClusterKind(sys.argv[1]), "4.9.4", None, None)
print(json.dumps(sorted(sys.modules)))
"""


def loaded_with(*modules: str) -> set[str]:
    return printed_by(IMPORTED, *modules)


def printed_by(code: str, *arguments: str) -> set[str]:
    command = [sys.executable, "-P", "-c", code, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return set(json.loads(ended.stdout))


@pytest.mark.parametrize(("kind", "loads"), [("embedded", False), ("containers", True)])
def test_docker_is_loaded_before_the_cluster_s_thread_begins(kind: str, loads: bool) -> None:
    """Two threads that import its parts at once can wait for each other."""
    loaded = printed_by(CHOSEN, kind)
    assert ({"docker.models.containers", "testcontainers.core.container"} <= loaded) is loads


def test_a_run_on_processes_of_this_host_loads_no_container_engine_and_no_http() -> None:
    loaded = loaded_with(
        "rocketchaos.harness.cli.reproduce",
        "rocketchaos.harness.cluster.embedded",
        "rocketchaos.harness.conditions.registry",
    )

    unneeded = (
        "docker",
        "testcontainers",
        "requests",
        "urllib3",
        "jgo",
        "jpype",
        "rich",
        "_pytest",
        "pyspark",
    )
    assert (
        within(loaded, *unneeded, "rocketchaos.harness.nightly.invariants", "rocketchaos.spark_reports")
        == set()
    )


@pytest.mark.parametrize("command", ["down", "clean", "check"])
def test_other_commands_load_no_container_engine_either(command: str) -> None:
    loaded = loaded_with(f"rocketchaos.harness.cli.{command}")

    assert within(loaded, "docker", "testcontainers", "requests", "jgo", "jpype", "rich") == set()


@pytest.mark.parametrize("command", ["check", "diagnose", "report"])
def test_what_reads_runs_or_looks_at_a_cluster_loads_nothing_that_runs(command: str) -> None:
    loaded = loaded_with(f"rocketchaos.harness.cli.{command}")

    rooms = ("engine", "clients", "conditions", "containers", "faults", "probes", "reaper")
    assert within(loaded, *(f"rocketchaos.harness.{room}" for room in rooms)) == set()


@pytest.mark.parametrize(
    ("arguments", "besides"),
    [
        (
            ["--version"],
            [
                "rich",
                "pydantic",
                "yaml",
                "rocketchaos.assertions",
                "rocketchaos.harness.scenario.model",
                "rocketchaos.harness.cluster",
            ],
        ),
        (
            ["--help"],
            [
                "rich",
                "pydantic",
                "yaml",
                "rocketchaos.assertions",
                "rocketchaos.harness.scenario.model",
                "rocketchaos.harness.cluster",
            ],
        ),
        (
            ["list"],
            [
                "rich",
                "rocketchaos.assertions",
                "rocketchaos.harness.scenario.model",
                "rocketchaos.harness.language.words",
            ],
        ),
        (["validate", str(shipped()[SCENARIO])], ["rich"]),
        (["validate", "--help"], ["rich"]),
        (["schema"], ["rich"]),
    ],
    ids=lambda item: item[0] if item else "",
)
def test_a_command_that_runs_nothing_loads_nothing_that_runs(
    arguments: list[str], besides: list[str]
) -> None:
    loaded = loaded_by(*arguments)

    assert within(loaded, *HEAVY, *RUNNING, *besides) == set()


def test_no_command_is_loaded_for_version_and_help() -> None:
    for option in ("--version", "--help"):
        names = within(loaded_by(option), "rocketchaos.harness.cli")
        assert names == {
            f"rocketchaos.harness.cli{name}" for name in ("", ".ending", ".lazy", ".main", ".terminal")
        }


def test_no_word_loads_what_runs_it() -> None:
    loaded = printed_by(EVERY_WORD)

    rooms = (
        "clients",
        "cluster",
        "conditions",
        "containers",
        "engine",
        "faults",
        "jars",
        "probes",
        "workers",
    )
    assert within(loaded, *(f"rocketchaos.harness.{room}" for room in rooms)) == set()


def test_a_file_loads_the_words_that_it_uses() -> None:
    loaded = loaded_by("validate", str(shipped()[SCENARIO]))

    assert {
        "rocketchaos.assertions.delivered",
        "rocketchaos.assertions.track",
        "rocketchaos.harness.steps.send",
    } <= loaded
    not_used = ("answer", "consumer_status", "dashboard", "latency", "log_lapse", "retry", "track_series")
    assert within(loaded, *(f"rocketchaos.assertions.{name}" for name in not_used)) == set()
    not_used = ("ask", "broker_config", "delay", "expire_files", "fill_disk", "heartbeat", "loss", "pull")
    assert within(loaded, *(f"rocketchaos.harness.steps.{name}" for name in not_used)) == set()
