"""What of a dashboard's answers gets into the history; the answers are recorded ones of the real 2.1.0."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.clients.producer import Acknowledged
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.names import Names
from rocketchaos.harness.probes.dashboard_probe import DASHBOARD_TRACK_LIMIT, read_dashboard
from tests.unit.clients.replayed_dashboard import recorded, replaying

GROUPS = "/consumer/groupList.query"
TRACKS = "/message/viewMessage.query"
CONNECTIONS = "/consumer/consumerConnection.query"
PROGRESS = "/consumer/queryTopicByConsumer.query"
TOKENS = {"track-of-5.3.3": "mwqkmuzpmep6es", "connections": "mwqkm1feuylt5j"}


class Context:
    """As much of a run as the probe needs; it keeps what is written down."""

    def __init__(self, token: str, messages: int) -> None:
        self.names = Names(token)
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.failures: list[tuple[str, str, dict[str, str]]] = []
        self.servers = self.observations = self
        self.scenario = SimpleNamespace(groups=("g",))
        self.producer = SimpleNamespace(
            acknowledged=[
                Acknowledged(f"orders-{n}", "orders", "broker-a", 0, n, f"ID{n}", f"OF{n}")
                for n in range(1, messages + 1)
            ]
        )

    def now_ns(self) -> int:
        return 0

    def brokers_of_group(self, group: str) -> dict[str, str]:
        return {"broker-b": "198.18.0.4:10911", "broker-a": "198.18.0.3:10911"}

    def write(self, what: str, kind: str, data: dict[str, Any], moment: str, _began_ns: int) -> None:
        assert moment == "end"
        self.events.append((kind, data))

    def note_failure(self, probe: str, error: str, **where: str) -> None:
        self.failures.append((probe, error, where))


def read(answers: dict[str, str], token: str, messages: int = 1) -> tuple[Context, list[tuple[str, Any]]]:
    context = Context(token, messages)
    found = {path: recorded(f"2.1.0/{name}") for path, name in answers.items()}
    with replaying({GROUPS: recorded("2.1.0/groups"), **found}) as server:
        read_dashboard(cast(Any, context), server.url, "end")
    return context, list(server.asked)


ALL = {TRACKS: "track-consumed", CONNECTIONS: "connections", PROGRESS: "progress"}


def test_tracks_subscription_and_progress_with_the_scenarios_names() -> None:
    context, asked = read(ALL, TOKENS["connections"])
    (tracks, connections, progress) = context.events
    assert tracks == (
        "dashboard-tracks-observed",
        {"topic": "orders", "key": "orders-1", "tracks": {"g": "CONSUMED"}, "why": {}},
    )
    assert connections[1]["subscriptions"]["orders"]["expression"] == "tagB"
    assert set(connections[1]["subscriptions"]) == {"orders", "%RETRY%g"}
    assert (connections[1]["message_model"], connections[1]["error"]) == ("CLUSTERING", None)
    (queues,) = progress[1]["topics"].values()
    assert [queue["consumer_offset"] for queue in queues] == [2, 2, 2, 2]
    assert (TRACKS, {"topic": f"orders-{TOKENS['connections']}", "msgId": "ID1"}) in asked
    address = "198.18.0.3:10911,198.18.0.4:10911"
    assert {item[1]["address"] for item in asked if item[0] in (CONNECTIONS, PROGRESS)} == {address}
    assert context.failures == []


def test_what_is_listed_besides_the_groups_keeps_its_name_and_its_reason() -> None:
    context, _ = read({**ALL, TRACKS: "track-of-5.3.3"}, TOKENS["track-of-5.3.3"])
    data = context.events[0][1]
    assert data["tracks"] == {"g": "CONSUMED", "orders": "UNKNOWN"}
    assert list(data["why"]) == ["orders"]


def test_an_error_instead_of_connections_or_progress_is_what_it_shows() -> None:
    answers = {CONNECTIONS: "connections-unknown-group", PROGRESS: "connections-without-address"}
    context, _ = read({**ALL, **answers}, TOKENS["connections"])
    (_, connections, progress) = context.events
    assert "CODE: 206" in connections[1]["error"]
    assert connections[1]["subscriptions"] == {}
    assert "null" in progress[1]["error"]
    assert progress[1]["topics"] == {}


def test_a_message_that_it_does_not_find_is_noted_and_the_others_are_asked_for() -> None:
    context, asked = read({**ALL, TRACKS: "track-unknown-message"}, TOKENS["connections"], messages=2)
    assert [where for _, _, where in context.failures] == [{"key": "orders-1"}, {"key": "orders-2"}]
    assert len(context.events) == 2
    assert len([item for item in asked if item[0] == TRACKS]) == 2


def test_so_many_messages_and_no_more() -> None:
    context, _ = read(ALL, TOKENS["connections"], messages=DASHBOARD_TRACK_LIMIT + 3)
    assert len(context.events) == DASHBOARD_TRACK_LIMIT + 2


def test_one_that_does_not_answer_ends_the_run() -> None:
    with replaying({}) as server, pytest.raises(EnvironmentNotReady, match="there is no http"):
        read_dashboard(cast(Any, Context("t", 1)), server.url, "end")
