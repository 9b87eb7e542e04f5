"""What the bench of diagnoses keeps of its looks and of other tools' answers, and how it shows them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests

from rocketchaos.harness.clients.dashboard import Dashboard, Flavour
from tests.benchmarks.diagnose import accuracy, dashboard
from tests.benchmarks.diagnose.mqadmin import words

RECORDED = Path(__file__).parents[2] / "recorded" / "dashboard" / "1.0.0"
ANSWERS = {
    "consumer/groupList.query": "groups.json",
    "consumer/consumerConnection.query": "connections.json",
    "consumer/queryTopicByConsumer.query": "progress.json",
    "message/viewMessage.query": "track-consumed.json",
}
"""A dashboard's own answers, by the path that was asked."""
MESSAGES = {"status": 0, "data": [{"msgId": "1"}, {"msgId": "2"}]}


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the test's own, in place of the measured one."""
    monkeypatch.setattr(accuracy, "KEPT", tmp_path / "accuracy.json")
    accuracy.KEPT.write_text('{"maladies": {}, "healthy": {}}')


def look(
    malady: str, *, right: bool = True, found: str = "RC0101", seconds: float = 0.2, **tools: str
) -> None:
    accuracy.keep_look(malady, "4.9.4", right=right, found=found, first_s=0.1, last_s=seconds, tools=tools)


def test_what_mqadmin_says_is_reported_in_its_own_words() -> None:
    status = "001  a@1  V4_9_4\nSame subscription in the same group of consumer\n\nRebalance OK\n"
    assert words(status) == "Same subscription in the same group of consumer, Rebalance OK"
    assert words("Consume TPS: 0.00\nDiff Total: 8\n") == "Diff Total: 8"
    assert words("#Topic  #Broker Name\n") == "nothing"
    offline = "CODE: 206  DESC: the consumer group[g-1] not online BROKER: 10.0.0.1:10911"
    assert words(offline) == "CODE: 206  DESC: the consumer group, not online"


def test_looks_of_several_calls_add_up_and_what_was_said_most_often_is_shown() -> None:
    for said in ("Rebalance OK", "warns", "Rebalance OK"):
        look("rc0101-x", mqadmin=said)
    look("rc0101-x", seconds=3.0)
    look("rc0303-y", right=False, found="nothing")
    look("rc0304-z", dashboard="tracks: 4 CONSUMED")
    assert accuracy.looks_at("rc0101-x", "4.9.4").looks == 4
    assert accuracy.looks_at("rc0101-x", "5.5.0").looks == 0
    rows = accuracy.maladies_table(accuracy.read()).splitlines()
    assert "| rc0101-x | RC0101 | 4 of 4 | 0.1 - 0.1 s | 0.2 - 3.0 s |" in rows
    assert "| rc0303-y | RC0303 | 0 of 1 (1 x nothing) | 0.1 - 0.1 s | 0.2 - 0.2 s |" in rows
    assert rows[-1] == "In all 5 of 6 looks found the planted code, and nothing else that is wrong."
    assert accuracy.tools_table(accuracy.read()).splitlines()[4:] == [
        "| rc0101-x | 4.9.4 | Rebalance OK | not asked |",
        "| rc0304-z | 4.9.4 | not asked | tracks: 4 CONSUMED |",
        "",
        '`consumerStatus` says "Rebalance OK" of 1 of these 2 groups.',
    ]


def test_what_the_dashboard_shows_of_a_group_names_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(url: str, **_more: object) -> SimpleNamespace:
        path = url.removeprefix("http://d/")
        text = (
            json.dumps(MESSAGES) if "queryMessageByTopic" in path else (RECORDED / ANSWERS[path]).read_text()
        )
        return SimpleNamespace(url=url, status_code=200, text=text, json=lambda: json.loads(text))

    monkeypatch.setattr(requests, "get", answer)
    asked = Dashboard("http://d", Flavour.ONE)
    group = "g-mwqkj37xfskief"
    assert dashboard.of_group(asked, group, ["orders"], []) == (
        "groups: 2 online, lag 0; subscription: tagB; queues: 4, 0 without a client; tracks: 2 CONSUMED"
    )
    monkeypatch.setitem(ANSWERS, "consumer/consumerConnection.query", "connections-offline.json")
    monkeypatch.setitem(ANSWERS, "consumer/queryTopicByConsumer.query", "progress-unknown-group.json")
    assert dashboard.of_group(asked, "other", ["orders"], []) == (
        "groups: not listed; consumers: CODE: 206 DESC: the consumer group; "
        "queues: CODE: 17 DESC: No topic route info in name server for the topic; tracks: none"
    )


def test_looks_at_healthy_groups_add_up_by_version() -> None:
    accuracy.keep_healthy("4.9.4", accuracy.Healthy(looks=20, warnings={"RC0601": 1}))
    accuracy.keep_healthy(
        "4.9.4", accuracy.Healthy(looks=10, warnings={"RC0601": 1}, undetermined={"RC0501": 3})
    )
    assert accuracy.healthy_table(accuracy.read()).splitlines()[-1] == (
        "| 4.9.4 | 30 | none | 2 x RC0601 | 3 x RC0501 |"
    )
