"""Manifests of a user's own workers: each becomes a kind of client, and what is wrong is named at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.rocketmq import own_workers as module
from rocketchaos.harness.rocketmq.client_traits import ClientTimer
from rocketchaos.harness.rocketmq.own_workers import read_manifest
from rocketchaos.harness.workers.own_program import own_program
from rocketchaos.harness.workers.worker_kinds import kind_of

MANIFEST = """\
client: mine
title: a client of mine
version: '1.2.3'
command: [./run, settings.ini]
timers: {heartbeat: 30000}
apis:
  push: {implementation: MyConsumer, sql: false, filters_by: own, lacks: [strategy, queues, rooms]}
"""


def worker(folder: Path, text: str = MANIFEST) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "worker.yaml").write_text(text)
    program = folder / "run"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return folder


def test_what_it_says_is_a_kind_of_client(tmp_path: Path) -> None:
    own = read_manifest(worker(tmp_path / "mine"))
    kind = own.kind
    assert (kind.name, kind.title, kind.version, kind.compressed) == (
        "mine",
        "a client of mine",
        "1.2.3",
        False,
    )
    assert kind.timers == (ClientTimer("heartbeat", 30_000),)
    (api,) = kind.apis.values()
    assert (api.name, api.implementation, api.sql, api.filters_by) == ("push", "MyConsumer", False, "own")
    assert api.lacks == ("strategy", "queues", "rooms")
    assert api.retries, "what isn't said is as with Java's push consumer"
    assert not kind.behaves_by_key, "a worker that doesn't know `only` would fail on every message"


def test_it_says_in_which_further_ways_it_sends(tmp_path: Path) -> None:
    assert read_manifest(worker(tmp_path / "plain")).kind.sends == frozenset()
    hashing = worker(tmp_path / "mine", MANIFEST + "sends: [hash_key]\n")
    assert read_manifest(hashing).kind.sends == {"hash_key"}


def test_its_program_is_seen_from_its_folder(tmp_path: Path) -> None:
    folder = worker(tmp_path / "mine")
    (folder / "settings.ini").write_text("")
    program = kind_of(read_manifest(folder)).program("1.0.0")
    assert program is not None
    assert program.command == (str(folder / "run"), str(folder / "settings.ini"))
    assert program.folder == folder


def test_a_program_may_be_one_of_the_path(tmp_path: Path) -> None:
    assert Path(own_program(("sh", "-c"), tmp_path).command[0]).name == "sh"


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = worker(tmp_path / "mine")
    (folder / "run").chmod(0o644)
    with pytest.raises(EnvironmentNotReady, match="isn't there, or can't be executed"):
        kind_of(read_manifest(folder)).program("1.0.0")


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("client: mine", "client: My-Own", "`client` is lower-case letters"),
        ("title: a client of mine\n", "", "`title` is a few words"),
        ("timers:", "sends: [batch]\ntimers:", "`sends` is a list of hash_key"),
        ("timers:", "sends: hash_key\ntimers:", "`sends` is a list of hash_key"),
        ("'1.2.3'", "1.2", "`version` is three numbers"),
        ("command: [./run, settings.ini]", "command: ./run", "`command` is a list of words"),
        ("timers:", "timer:", "there is no key `timer`; did you mean `timers`?"),
        ("30000", "30s", "`timers` has milliseconds"),
        ("  push:", "  pushes:", "there is no api `pushes`; did you mean `push`?"),
        ("implementation: MyConsumer, ", "", "`push` says at least its `implementation`"),
        ("sql: false", "sgl: false", "there is no trait `sgl`; did you mean `sql`?"),
        ("sql: false", "sql: 1", "`sql` is true or false"),
        ("filters_by: own", "filters_by: its-own", "`filters_by` is stored or own"),
        (MANIFEST, "- one", "it is no mapping of keys"),
        (MANIFEST, "client: [", "can't be read"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, text: str) -> None:
    assert old in MANIFEST
    with pytest.raises(UsageProblem) as refusal:
        read_manifest(worker(tmp_path / "mine", MANIFEST.replace(old, new)))
    assert text in refusal.value.message
    assert str(tmp_path / "mine" / "worker.yaml") in refusal.value.message
    assert "own-client.md" in refusal.value.hint


def test_two_of_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [worker(tmp_path / name) for name in ("one", "two")]
    monkeypatch.setenv(module.VARIABLE, os.pathsep.join(map(str, folders)))
    with pytest.raises(UsageProblem, match="two workers of ROCKETCHAOS_WORKERS are called `mine`"):
        module.own_workers.__wrapped__()


def rocketchaos(*arguments: str, workers: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rocketchaos", *arguments],
        env={**os.environ, module.VARIABLE: str(workers)},
        capture_output=True,
        text=True,
    )


def test_scenarios_have_it_by_its_name(tmp_path: Path) -> None:
    folder = worker(tmp_path / "mine")
    scenario = tmp_path / "s.scenario.yaml"
    text = (
        "name: s\ntitle: s\ntopics: {orders: {}}\n"
        "consumers: {a: {group: g, client: mine, subscribe: {orders: tagA}}}\n"
        "steps: [{start: a}]\nanomaly: [{delivered: {to: a, count: 1}}]\n"
        "healthy: [{delivered: {to: a, count: 0}}]\nexpected: not-reproduced\n"
    )
    scenario.write_text(text)
    done = rocketchaos("validate", str(scenario), workers=folder)
    assert done.returncode == 0, done.stderr
    scenario.write_text(text.replace("orders: tagA", "orders: {sql: 'a = 1'}"))
    done = rocketchaos("validate", str(scenario), workers=folder)
    assert done.returncode == 2
    assert "a client of mine can't do this" in done.stdout + done.stderr


@pytest.mark.parametrize(("old", "new"), [("client: mine", "client: java"), ("apis:", "api:")])
def test_a_broken_one_ends_a_command_with_one_message(tmp_path: Path, old: str, new: str) -> None:
    folder = worker(tmp_path / "mine", MANIFEST.replace(old, new))
    done = rocketchaos("validate", "nothing.scenario.yaml", workers=folder)
    assert done.returncode == 2
    assert "rocketchaos: " in done.stderr
    assert "Traceback" not in done.stderr
