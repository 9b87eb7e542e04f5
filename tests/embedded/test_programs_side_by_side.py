"""Programs of a user's own in one run, each in a group of its own: what each tells is its own."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.embedded.small_scenario import held
from tests.embedded.users_programs import RunOwn, classes_of, of_guide

pytestmark = [pytest.mark.embedded, pytest.mark.extended]

SEVERAL = """\
name: own
title: programs of the user's own, each in a group of its own
topics: {orders: {queues: 4}, handled: {queues: 4}}
consumers:
CONSUMERS
steps:
  - start: [differs, silent, writes, serves, omits]
  - settle: {ownership: of-differs, within: 60s}
  - settle: {ownership: of-silent, within: 60s}
  - settle: {ownership: of-writes, within: 60s}
  - settle: {ownership: of-serves, within: 60s}
  - settle: {ownership: of-omits, within: 60s}
  - settle: {subscription: of-differs, topic: orders, within: 60s}
  - send: {topic: orders, tag: tagA, count: 16, per_queue: 4}
  - settle: {offsets: of-differs, topic: orders, lag: 0, within: 60s}
  - settle: {offsets: of-silent, topic: orders, lag: 0, within: 60s}
  - settle: {offsets: of-writes, topic: orders, lag: 0, within: 60s}
  - settle: {offsets: of-serves, topic: orders, lag: 0, within: 60s}
  - settle: {offsets: of-omits, topic: orders, lag: 0, within: 60s}
anomaly: [{undelivered: {group: of-differs, at_least: 16}}, {undelivered: {group: of-silent, at_least: 1}}]
healthy: [{delivered: {to: of-serves, count: 16}}, {delivered: {to: of-writes, count: 16}}]
"""
CONSUMER = """\
  NAME:
    group: of-NAME
    subscribe: {orders: tagA}
    app:
      command: [./service, $nameserver, MODE]
      SEES
      env: {GROUP: of-NAME, PORT: 'SERVES_AT', CONFIG: conf}
"""
MODES = {
    "differs": "differs",
    "silent": "plain",
    "writes": "writes-some",
    "serves": "serves",
    "omits": "serves-some",
}
"""By program: what it does. `silent` prints, and no line is found."""


@pytest.fixture(scope="module")
def several(run_own: RunOwn, service: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One run of programs that tell different things."""
    folder = tmp_path_factory.mktemp("several")
    (folder / "service").write_text(service)
    (folder / "service").chmod(0o755)
    (folder / "conf").write_text("x")
    text = ""
    for name, mode in MODES.items():
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        listed = of_guide("sees: {http:").strip().replace(":8080/", f":{port}/")
        sees = {
            "differs": "sees: {log: 'got (?P<key>.+)'}",
            "silent": "sees: {log: 'got (?P<key>nothing)'}",
            "writes": """sees: {topic: handled, body: '"order": "(?P<key>[^"]+)"'}""",
        }.get(name, listed)
        consumer = CONSUMER.replace("NAME", name).replace("MODE", mode)
        text += consumer.replace("SEES\n", f"{sees}\n").replace("SERVES_AT", port)
    return run_own(folder, SEVERAL.replace("CONSUMERS\n", text))[1]


def of_program(run: dict[str, Any], name: str, kind: str) -> list[dict[str, Any]]:
    """What the run's events of this kind say of one program."""
    lines = (Path(run["run_dir"]) / "events.jsonl").read_text().splitlines()
    return [
        event["data"] for event in map(json.loads, lines) if (event["kind"], event["node"]) == (kind, name)
    ]


@pytest.mark.nightly
def test_what_it_subscribes_to_besides_is_shown_and_judged(several: dict[str, Any]) -> None:
    assert several["trouble"] is None, several["reason"]
    said = "The program of differs subscribes to orders 'tagB', and the scenario says orders 'tagA'"
    assert said in (Path(several["run_dir"]) / "START-HERE.md").read_text()
    assert classes_of(several)["of-differs"] == {"filtered-by-broker": 16}
    assert held(several)[0] is True


def test_where_no_line_is_found_nothing_is_known(several: dict[str, Any]) -> None:
    assert several["outcome"] == "inconclusive", several["reason"]
    assert classes_of(several)["of-silent"] == {"undetermined": 16}
    assert held(several)[1] is None


def test_an_entry_that_is_missing_proves_nothing(several: dict[str, Any]) -> None:
    assert classes_of(several)["of-writes"] == {"delivered": 8, "undetermined": 8}
    assert {item["line"] for item in of_program(several, "writes", "received")} == {
        f'{{"order": "orders-{number}"}}' for number in range(2, 17, 2)
    }
    assert held(several, "healthy")[1] is None


@pytest.mark.parametrize(
    ("name", "classes"),
    [("serves", {"delivered": 16}), ("omits", {"delivered": 8, "undetermined": 8})],
)
def test_what_it_lists_by_http_tells_what_it_handled(
    several: dict[str, Any], name: str, classes: dict[str, int]
) -> None:
    assert classes_of(several)[f"of-{name}"] == classes
    # Listed again and again, and told once.
    assert len(of_program(several, name, "received")) == classes["delivered"]
    assert {item["status"] for item in of_program(several, name, "consumed")} == {"ANSWERED"}
    assert held(several, "healthy")[0] is True
