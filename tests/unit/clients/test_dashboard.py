"""The dashboard's client, on answers that were recorded from the real 1.0.0 and 2.1.0.

By version of the dashboard and name; those of 1.0.0 are about RocketMQ 4.9.4, those of 2.1.0 about 5.5.0 where the
name says nothing else.
"""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from rocketchaos.harness.clients.dashboard import (
    Dashboard,
    DashboardRefused,
    Flavour,
    ShownGroup,
    ShownQueue,
    ShownTrack,
    dashboard_at,
    why_not_ready,
)
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode
from tests.unit.clients.replayed_dashboard import RECORDED, recorded, replaying

GROUPS = "/consumer/groupList.query"
REFRESHED = "/consumer/group.refresh.all"
TRACKS = "/message/viewMessage.query"
CONNECTIONS = "/consumer/consumerConnection.query"
PROGRESS = "/consumer/queryTopicByConsumer.query"
FLAVOURS = {"1.0.0": Flavour.ONE, "2.1.0": Flavour.TWO}
BROKERS = ["198.18.0.3:10911", "198.18.0.4:10911"]


def replayed(page: str, answer: str) -> tuple[Dashboard, dict[str, str]]:
    """A dashboard without an address yet, and what it answers."""
    return Dashboard("", FLAVOURS[answer.split("/")[0]]), {page: recorded(answer)}


@pytest.mark.parametrize(
    ("answer", "types"),
    [
        ("1.0.0/track-consumed", ["CONSUMED"]),
        ("1.0.0/track-consumed-but-filtered", ["CONSUMED_BUT_FILTERED"]),
        ("1.0.0/track-not-consume-yet", ["NOT_CONSUME_YET"]),
        ("1.0.0/track-host-name", ["NOT_CONSUME_YET"]),
        ("1.0.0/track-not-online", ["NOT_ONLINE"]),
        ("2.1.0/track-consumed", ["CONSUMED"]),
        ("2.1.0/track-broadcasting", ["CONSUME_BROADCASTING"]),
        ("2.1.0/track-of-4.9.4", ["UNKNOWN"]),
        ("2.1.0/track-of-5.3.3", ["CONSUMED", "UNKNOWN"]),
        ("2.1.0/track-of-5.3.3-broadcasting", ["UNKNOWN"]),
    ],
)
def test_tracks(answer: str, types: list[str]) -> None:
    dashboard, answers = replayed(TRACKS, answer)
    with replaying(answers) as server:
        dashboard.url = server.url
        tracks = dashboard.tracks("orders-x", "ID 1&2")
    assert [track.type for track in tracks] == types
    assert server.asked == [(TRACKS, {"topic": "orders-x", "msgId": "ID 1&2"})]


def test_a_track_says_what_kept_it_from_saying_more() -> None:
    dashboard, answers = replayed(TRACKS, "1.0.0/track-not-online")
    with replaying(answers) as server:
        dashboard.url = server.url
        (track,) = dashboard.tracks("orders-x", "ID")
    assert track == ShownTrack("g-mwqkk4k6r4forr", "NOT_ONLINE", track.why)
    assert track.why is not None
    assert track.why.startswith("CODE:206")


@pytest.mark.parametrize("version", FLAVOURS)
def test_connections_and_subscriptions(version: str) -> None:
    dashboard, answers = replayed(CONNECTIONS, f"{version}/connections")
    with replaying(answers) as server:
        dashboard.url = server.url
        shown = dashboard.connections("g-x", BROKERS)
    assert [client.partition("@")[0] for client in shown.clients] == ["a", "b"]
    expressions = {
        topic.rpartition("-")[0]: subscription.expression
        for topic, subscription in shown.subscriptions.items()
    }
    assert expressions == {"orders": "tagB", "%RETRY%g": "*"}
    assert (shown.model, shown.consume_from) == ("CLUSTERING", "CONSUME_FROM_FIRST_OFFSET")


@pytest.mark.parametrize("version", FLAVOURS)
def test_progress(version: str) -> None:
    dashboard, answers = replayed(PROGRESS, f"{version}/progress")
    with replaying(answers) as server:
        dashboard.url = server.url
        (queues,) = dashboard.progress("g-x", BROKERS).values()
    assert [(queue.queue_id, queue.max_offset, queue.consumer_offset) for queue in queues] == [
        (0, 2, 2), (1, 2, 2), (2, 2, 2), (3, 2, 2),
    ]  # fmt: skip
    assert [str(queue.owner).partition("@")[0] for queue in queues] == ["a", "a", "b", "b"]


def test_progress_of_several_brokers_is_put_together_and_an_offset_below_zero_is_none() -> None:
    answer = recorded("1.0.0/progress").replace('"consumerOffset":2', '"consumerOffset":-1', 1)
    both = answer.replace('"data":[', '"data":[' + answer.partition("[")[2].rpartition("]")[0] + ",")
    with replaying({PROGRESS: both}) as server:
        (queues,) = Dashboard(server.url, Flavour.ONE).progress("g-x", BROKERS).values()
    assert len(queues) == 8
    assert queues[0].consumer_offset is None


def test_nobody_owns_the_queues_of_a_group_that_is_offline() -> None:
    dashboard, answers = replayed(PROGRESS, "1.0.0/progress-offline")
    with replaying(answers) as server:
        dashboard.url = server.url
        shown = dashboard.progress("g-x", BROKERS)
    assert shown["%RETRY%g-mwqkk4k6r4forr"] == (ShownQueue("broker-a", 0, 0, 0, None),)


def test_2_gets_whom_to_ask_and_1_does_not() -> None:
    for flavour, address in ((Flavour.ONE, {}), (Flavour.TWO, {"address": ",".join(BROKERS)})):
        answers = {
            name: recorded(f"2.1.0/{file}")
            for name, file in ((CONNECTIONS, "connections"), (PROGRESS, "progress"))
        }
        with replaying(answers) as server:
            dashboard = Dashboard(server.url, flavour)
            dashboard.connections("g-x", BROKERS)
            dashboard.progress("g-x", BROKERS)
        assert [parameters for _, parameters in server.asked] == [{"consumerGroup": "g-x", **address}] * 2


def test_groups_without_the_prefix_of_rocketmqs_own() -> None:
    answers = {GROUPS: recorded("2.1.0/groups"), REFRESHED: recorded("2.1.0/groups-refreshed")}
    with replaying(answers) as server:
        new = {group.group for group in dashboard_at(server.url).groups()}
        old = {group.group for group in Dashboard(server.url, Flavour.ONE).groups()}
    assert new - old == {"g-mwqkm1feuylt5j"}, "2.1.0 shows what was there when somebody asked first"
    assert not [item for item in new if item.startswith("%")]
    with replaying({GROUPS: recorded("1.0.0/groups")}) as server:
        groups = dashboard_at(server.url).groups()
    assert groups[0] == ShownGroup("g-mwqkj37xfskief", 2, "CLUSTERING", 0)
    assert groups[1] == ShownGroup("CID_ONSAPI_OWNER", 0, None, None)


def test_a_2_that_has_no_list_to_refresh_gives_the_one_that_it_has() -> None:
    with replaying({GROUPS: recorded("2.1.0/groups")}) as server:
        assert len(dashboard_at(server.url).groups()) == 9


def test_there_may_be_no_group() -> None:
    with replaying({GROUPS: recorded("1.0.0/groups-none")}) as server:
        assert Dashboard(server.url, Flavour.ONE).groups() == ()


@pytest.mark.parametrize("version", FLAVOURS)
def test_it_is_known_by_its_list_of_groups(version: str) -> None:
    with replaying({GROUPS: recorded(f"{version}/groups")}) as server:
        assert dashboard_at(server.url + "/").flavour is FLAVOURS[version]
        assert why_not_ready(server.url) is None


def test_one_that_is_just_building_its_list_is_a_2() -> None:
    busy = '{"status":-1,"data":null,"errMsg":"Cache is being built, please try again later"}'
    with replaying({GROUPS: busy}) as server:
        assert dashboard_at(server.url).flavour is Flavour.TWO


@pytest.mark.parametrize(
    ("page", "answer", "said"),
    [
        (TRACKS, "1.0.0/track-unknown-message", "Failed to query message by Id: 7F000001"),
        (TRACKS, "2.1.0/track-unknown-message", "Failed to query message by Id: 7F000001"),
        (
            CONNECTIONS,
            "1.0.0/connections-offline",
            "CODE: 206  DESC: the consumer group[g-mwqkk4k6r4forr] not online",
        ),
        (CONNECTIONS, "1.0.0/connections-unknown-group", "CODE: 17  DESC: No topic route info"),
        (
            CONNECTIONS,
            "2.1.0/connections-unknown-group",
            "CODE: 206  DESC: the consumer group[no-such-group]",
        ),
        (CONNECTIONS, "2.1.0/connections-without-address", 'because "address" is null'),
        (PROGRESS, "1.0.0/progress-broadcasting", "because return offset table is empty"),
        (PROGRESS, "1.0.0/progress-unknown-group", "CODE: 17  DESC: No topic route info"),
        (REFRESHED, "2.1.0/groups-none", 'because "subscriptionGroupWrapper" is null'),
    ],
)
def test_what_it_refuses_is_reported_in_its_own_words(page: str, answer: str, said: str) -> None:
    dashboard, answers = replayed(page, answer)
    ask = {
        TRACKS: lambda: dashboard.tracks("t", "i"),
        CONNECTIONS: lambda: dashboard.connections("g", BROKERS),
        PROGRESS: lambda: dashboard.progress("g", BROKERS),
        REFRESHED: dashboard.groups,
    }[page]
    with replaying(answers) as server:
        dashboard.url = server.url
        with pytest.raises(DashboardRefused) as refusal:
            ask()
    assert said in refusal.value.said
    assert refusal.value.exit_code is ExitCode.ENVIRONMENT
    assert server.url + page in str(refusal.value)


def test_a_group_that_2_does_not_know_has_no_progress() -> None:
    dashboard, answers = replayed(PROGRESS, "2.1.0/progress-unknown-group")
    with replaying(answers) as server:
        dashboard.url = server.url
        assert dashboard.progress("no-such-group", BROKERS) == {}


@pytest.mark.parametrize(
    "answer",
    [
        "<html>Please log in</html>",
        "",
        "[]",
        "null",
        '{"status":0}',
        '{"status":0,"data":null,"errMsg":null}',
        '{"status":0,"data":{"messageTrackList":[{"consumerGroup":"g"}]},"errMsg":null}',
        '{"timestamp":1,"status":500,"error":"Internal Server Error","path":"/message"}',
    ],
)
def test_what_is_no_answer_of_a_dashboard_is_reported_with_its_address_and_a_piece_of_it(answer: str) -> None:
    with replaying({TRACKS: answer + " " * 300}) as server:
        with pytest.raises(EnvironmentNotReady, match="isn't understood") as failure:
            Dashboard(server.url, Flavour.ONE).tracks("orders", "ID")
        assert f"{server.url}{TRACKS}?topic=orders&msgId=ID" in failure.value.message
        assert answer[:100] in failure.value.message
        assert len(failure.value.message) < 500


def test_what_is_no_dashboard_is_not_ready_and_says_why() -> None:
    for answers, why in (({}, "there is no http"), ({GROUPS: recorded("1.0.0/groups-none")}, "no group")):
        with replaying(answers) as server:
            assert why in str(why_not_ready(server.url))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert why_not_ready(url) == f"the dashboard doesn't answer at {url}{GROUPS}: ConnectionError"


def test_one_that_was_not_ready_is_asked_again() -> None:
    with replaying({GROUPS: recorded("1.0.0/groups-none")}) as server:
        with pytest.raises(EnvironmentNotReady):
            dashboard_at(server.url)
        server.answers[GROUPS] = recorded("1.0.0/groups")
        assert dashboard_at(server.url).flavour is Flavour.ONE


def test_every_recorded_answer_is_used() -> None:
    text = Path(__file__).read_text("utf-8")
    names = {path.stem for path in RECORDED.rglob("*.json")}
    assert not [name for name in names if name not in text]
