"""Running info (307), as clients of two languages write it."""

from __future__ import annotations

import json

import pytest

from rocketchaos.harness.rocketmq.running_info import running_info

JAVA = (
    b'{"jstack":"","mqTable":{{"brokerName":"broker-a","queueId":1,"topic":"orders"}:'
    b'{"cachedMsgCount":2,"commitOffset":7,"locked":false}},"properties":{},"statusTable":{},"subscriptionSet":'
    b'[{"classFilterMode":false,"expressionType":"TAG","subString":"tagA","subVersion":17,"topic":"orders"}]}'
)
CPP = (
    b'{"mqTable":{{\n   "brokerName" : "broker-a",\n   "queueId" : "1",\n   "topic" : "orders"\n}:{\n'
    b'   "cachedMsgCount" : "2",\n   "commitOffset" : "7"\n}\n},"jstack":"","properties":{},"subscriptionSet":'
    b'[{"subString":"tagA","subVersion":"17","topic":"orders"}]}\n'
)
CPP_WITHOUT_QUEUES = (
    b'{"mqTable":},"jstack":"","properties":{},"subscriptionSet":'
    b'[{"subString":"tagA","subVersion":"17","topic":"orders"}]}\n'
)
SUBSCRIPTIONS = {"orders": {"expression": "tagA", "type": "TAG", "sub_version": 17}}


@pytest.mark.parametrize("body", [JAVA, CPP])
def test_queues_and_subscriptions_are_read_whoever_wrote_them(body: bytes) -> None:
    assert running_info(body) == {
        "queues": [{"topic": "orders", "broker": "broker-a", "queue_id": 1, "commit_offset": 7, "cached": 2}],
        "subscriptions": SUBSCRIPTIONS,
    }


def test_a_member_of_the_c_client_without_queues_has_none() -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(CPP_WITHOUT_QUEUES)  # it is no JSON
    assert running_info(CPP_WITHOUT_QUEUES) == {"queues": [], "subscriptions": SUBSCRIPTIONS}


def test_what_is_cut_off_is_no_answer() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        running_info(CPP[:40])
