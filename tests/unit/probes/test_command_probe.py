"""Commands of the user's that a check runs: their end, their output, and that nothing is left of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest
from tenacity import retry, stop_after_delay, wait_fixed

from rocketchaos.assertions.check_command import CheckCommand
from rocketchaos.assertions.view import RunView
from rocketchaos.harness.core.history import History
from rocketchaos.harness.core.model import Holds
from rocketchaos.harness.probes.command_probe import run_command, run_commands
from rocketchaos.harness.probes.context import ProbeContext
from rocketchaos.harness.probes.observations import Observations
from tests.unit.history_builder import scenario_of

TEXT = """\
name: own
title: a command is asked
topics: {orders: {queues: 1}}
consumers: {a: {group: g, subscribe: {orders: tagA}}}
steps: [{start: a}]
anomaly: [{check-command: {command: [./billed, $nameserver], succeeds: false}}]
healthy: [{check-command: {command: [./billed, $nameserver]}}]
"""


def context_of(folder: Path, history: History | None = None) -> ProbeContext:
    history = history or History("run")
    context = SimpleNamespace(
        scenario=scenario_of(TEXT, str(folder / "own.scenario.yaml")),
        history=history,
        observations=Observations(history),
        servers=SimpleNamespace(cluster=SimpleNamespace(nameserver="127.0.0.1:9876")),
        now_ns=lambda: 1,
        check_alive=lambda: None,
    )
    return cast("ProbeContext", context)


def asked(tmp_path: Path, script: str, *, at: str = "end") -> RunView:
    """The history of a run at whose observation this script is run."""
    (tmp_path / "own.scenario.yaml").touch()
    program = tmp_path / "billed"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    history = History("run")
    context = context_of(tmp_path, history)
    run_commands(context, at, at)
    history.append("harness", "moment-observed", {"moment": at})
    return RunView(context.scenario, history.events)


def holds(view: RunView, **fields: Any) -> tuple[Holds, Holds, str]:
    """What it answers, what its contrary does, and what was observed."""
    command = ["./billed", "$nameserver"]
    found = CheckCommand.model_validate({"command": command, **fields}).evaluate(view)
    contrary = CheckCommand.model_validate({"command": command, "succeeds": False, **fields}).evaluate(view)
    return found.holds, contrary.holds, found.observed


@pytest.mark.parametrize(
    ("script", "expected", "contrary", "words"),
    [
        ("echo $1 in $(basename $PWD)", Holds.YES, Holds.NO, "exit code 0; it printed: 127.0.0.1:9876 in "),
        ("echo 39 of 40 >&2; exit 1", Holds.NO, Holds.YES, "exit code 1; it printed: 39 of 40"),
        ("exit 2", Holds.UNKNOWN, Holds.UNKNOWN, "exit code 2; it printed nothing; only 0 and 1"),
        ("kill -9 $$", Holds.UNKNOWN, Holds.UNKNOWN, "it was ended by SIGKILL"),
    ],
)
def test_the_exit_code_says_whether_it_holds(
    tmp_path: Path, script: str, expected: Holds, contrary: Holds, words: str
) -> None:
    found = holds(asked(tmp_path, script))
    assert found[:2] == (expected, contrary)
    assert words in found[2]


def test_where_it_was_not_run_nothing_is_known(tmp_path: Path) -> None:
    view = asked(tmp_path, "exit 0", at="before")
    assert holds(view)[0] is Holds.UNKNOWN
    view = asked(tmp_path, "exit 0")
    assert holds(view, within="5s")[0] is Holds.UNKNOWN


def test_one_that_is_gone_by_then_is_unknown(tmp_path: Path) -> None:
    history = History("run")
    (tmp_path / "own.scenario.yaml").touch()
    context = context_of(tmp_path, history)
    run_commands(context, "end", "end")
    history.append("harness", "moment-observed", {"moment": "end"})
    found = holds(RunView(context.scenario, history.events))
    assert found[0] is Holds.UNKNOWN
    assert "the program doesn't exist" in found[2]


@retry(stop=stop_after_delay(10), wait=wait_fixed(0.02))
def gone(pid: int) -> None:
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("last", ["wait", "exit 0"])
def test_it_has_a_limit_and_leaves_nothing(tmp_path: Path, last: str) -> None:
    script = f"sleep 600 & echo $!; {last}"
    ended = run_command(context_of(tmp_path), ["sh", "-c", script], str(tmp_path), 1.0)
    assert ended.exit_code == (None if last == "wait" else 0)
    assert ended.why_none == ("it had not ended after 1 s, and was killed" if last == "wait" else "")
    gone(int(ended.output))


def test_of_what_it_prints_the_end_is_kept(tmp_path: Path) -> None:
    script = "yes | head -c 30000000; printf 'a\\377b'"
    ended = run_command(context_of(tmp_path), ["sh", "-c", script], str(tmp_path), 20.0)
    assert ended.exit_code == 0
    assert len(ended.output) <= 2000
    assert ended.output.endswith("a\N{REPLACEMENT CHARACTER}b")


def test_who_interrupts_the_run_does_not_wait_for_it(tmp_path: Path) -> None:
    context = context_of(tmp_path)

    def interrupted() -> None:
        raise KeyboardInterrupt

    context.check_alive = interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        run_command(context, ["sleep", "600"], str(tmp_path), 60.0)


def test_what_is_no_program_is_unknown(tmp_path: Path) -> None:
    ended = run_command(context_of(tmp_path), [str(tmp_path)], str(tmp_path), 1.0)
    assert ended.exit_code is None
    assert "it can't be started" in ended.why_none
