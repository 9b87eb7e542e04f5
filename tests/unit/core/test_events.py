"""The catalogue of kinds of events, and what it says of a run folder."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.core.errors import EnvironmentNotReady, HarnessDefect
from rocketchaos.harness.core.events import KINDS
from rocketchaos.harness.core.events.base import WRITERS, BrokenEvent
from rocketchaos.harness.core.events.messages import Received, Sent
from rocketchaos.harness.core.events.servers import FaultEffective
from rocketchaos.harness.core.history import History, read_history
from rocketchaos.harness.core.model import Event, Trouble
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.engine.health import Health
from rocketchaos.harness.engine.worker_record import record_worker_event
from rocketchaos.harness.reference.events import described, events_reference
from rocketchaos.harness.workers.worker_events import WorkerEvent

ROOT = Path(__file__).parents[3]
RUNS = sorted((ROOT / "tests" / "golden" / "runs").iterdir())
SENT = {
    "topic": "orders",
    "key": "orders-1",
    "tag": None,
    "status": "SEND_OK",
    "broker": "broker-a",
    "queue_id": 2,
    "queue_offset": 5,
}


def event(kind: str, data: dict[str, object]) -> Event:
    return Event(1, 2, 3, "run", "harness", kind, data)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: str(run.name))
def test_every_recorded_event_is_of_a_known_kind_with_the_declared_fields(run: Path) -> None:
    read = read_history(run / "events.jsonl")
    assert read.damage is None
    for item in read.events:
        assert item.kind in KINDS
        assert set(item.data) <= {field.name for field in described(KINDS[item.kind])}, item
        shown = item.body.as_data()
        assert {name: item.data[name] for name in shown} == shown


def test_each_kind_says_who_writes_it() -> None:
    assert {kind.kind: kind.node for kind in KINDS.values() if kind.node not in WRITERS} == {}


def test_the_document_is_up_to_date() -> None:
    written = (ROOT / "docs" / "events.md").read_text("utf-8")
    assert written == events_reference(), (
        "run: python -m rocketchaos.harness.reference.events > docs/events.md"
    )


def test_a_body_is_read_once() -> None:
    sent = event("sent", SENT)
    assert isinstance(sent.body, Sent)
    assert sent.body is sent.body
    assert (sent.body.queue, sent.body.queue_offset) == ("broker-a:2", 5)


def test_kinds_and_fields_of_a_newer_version_are_no_damage(tmp_path: Path) -> None:
    history = History("run", tmp_path / "events.jsonl")
    history.append("harness", "of-tomorrow", {"key": 1})
    history.append("producer", "sent", {**SENT, "of_tomorrow": [1]})
    read = read_history(tmp_path / "events.jsonl")
    assert read.damage is None
    assert [item.data for item in read.events] == [{"key": 1}, {**SENT, "of_tomorrow": [1]}]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"queue_id": "x"}, "`sent`: the field `queue_id` must be int, and is str"),
        ({"tag": 1}, "`sent`: the field `tag` must be str | null, and is int"),
        ({"key": ...}, "`sent`: the field `key` is missing"),
        ({"keys": [1]}, "`sent`: the field `keys[0]` must be str, and is int"),
    ],
)
def test_a_broken_event_names_the_field(change: dict[str, object], said: str) -> None:
    data = {name: value for name, value in {**SENT, **change}.items() if value is not ...}
    with pytest.raises(BrokenEvent) as raised:
        assert event("sent", data).body
    assert str(raised.value) == said


def test_a_field_within_a_mapping_is_named_by_its_way() -> None:
    with pytest.raises(BrokenEvent, match=r"the field `queues\[0\]\.offset` is missing"):
        assert event(
            "offsets-reset", {"group": "g", "topic": "t", "queues": [{"broker": "b", "queue_id": 1}]}
        ).body


def test_a_body_is_written_as_its_kind_has_it(tmp_path: Path) -> None:
    history = History("run", tmp_path / "events.jsonl")
    history.append("harness", FaultEffective(fault="cut", target="a and b", sides=("a", "b"), proof="cut"))
    line = json.loads((tmp_path / "events.jsonl").read_text())
    assert line["kind"] == "fault-effective"
    assert line["data"] == {"fault": "cut", "target": "a and b", "sides": ["a", "b"], "proof": "cut"}
    assert read_history(tmp_path / "events.jsonl").events == history.events


def test_check_names_the_line_and_the_field_of_a_broken_event(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(next(run for run in RUNS if run.name == "same-group-same-tags"), folder)
    lines = (folder / "events.jsonl").read_text("utf-8").splitlines()
    number, broken = next((i, json.loads(line)) for i, line in enumerate(lines, 1) if '"received"' in line)
    assert isinstance(event(broken["kind"], broken["data"]).body, Received)
    del broken["data"]["topic"]
    lines[number - 1] = json.dumps(broken)
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    code = main(["check", str(folder)])
    text = " ".join(capsys.readouterr().out.split())
    assert code != 0
    assert f"events.jsonl:{number}: `received`: the field `topic` is missing" in text
    assert "Traceback" not in text


def test_a_broken_event_of_a_worker_is_trouble_at_once() -> None:
    history = History("run")
    health = Health(history, threading.Event())
    event = WorkerEvent("a", 1, 2, "consumed", {"consumer": "a", "key": "orders-1"})
    record_worker_event("a", event, history, Names("tok"), health)
    with pytest.raises(
        HarnessDefect, match="worker a wrote a broken event: `consumed`: the field `status` is"
    ):
        health.check()


def test_a_program_of_the_users_is_no_worker_to_them() -> None:
    health = Health(History("run"), threading.Event(), {"a"})
    health.worker_died("a", "exit code 1", Trouble.ENVIRONMENT)
    with pytest.raises(EnvironmentNotReady, match="the program of a has ended: exit code 1"):
        health.check()


@pytest.mark.parametrize(("programs", "says"), [({"a"}, True), (set(), False)])
def test_a_program_that_ends_well_may_be_a_daemon(programs: set[str], says: bool) -> None:
    health = Health(History("run"), threading.Event(), programs)
    health.worker_died("a", "exit code 0; the end of a.log:\n    started", Trouble.ENVIRONMENT)
    with pytest.raises(EnvironmentNotReady) as error:
        health.check()
    assert ("must run in the foreground" in error.value.hint) is says
