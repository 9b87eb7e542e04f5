"""What the admin client asks, and what it makes of answers, as brokers write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.clients.tools import Tools
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.rocketmq.remoting import Answer

NO_ROUTE = Answer(17, "No topic route info", {}, b"")
Answers = Callable[[str, int], Answer]


class Requests:
    """Answers as the test says, and keeps what was asked."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.asked: list[tuple[str, int, Mapping[str, str]]] = []

    def ask(
        self, address: str, code: int, fields: Mapping[str, str], body: bytes = b"", *, limit_s: float
    ) -> Answer:
        self.asked.append((address, code, fields))
        return self.answers(address, code)

    def close(self) -> None:
        raise AssertionError


def no_tools() -> Tools:
    def spawn() -> None:
        raise AssertionError("no tools are needed")

    return Tools(spawn, "n:1")  # type: ignore[arg-type]


def admin(answers: Answers, nameserver: str = "n:1") -> tuple[Admin, Requests]:
    requests = Requests(answers)
    return Admin(nameserver, requests, no_tools()), requests


def success(content: object) -> Answer:
    return Answer(0, "", {}, json.dumps(content).encode() if not isinstance(content, bytes) else content)


def route(queues: int, **addresses: str) -> Answer:
    data = {"brokerName": "broker-a", "readQueueNums": queues, "writeQueueNums": queues, "perm": 6}
    ids = {number.removeprefix("id"): address for number, address in addresses.items()}
    return success({"queueDatas": [data], "brokerDatas": [{"brokerName": "broker-a", "brokerAddrs": ids}]})


def test_a_topic_is_created_with_all_that_a_topic_has() -> None:
    made, requests = admin(lambda _address, _code: success({}))
    made.create_topic("t", {"readQueueNums": 3, "order": True, "message.type": "FIFO"}, ["a:1", "b:1"])
    [(_, code, fields), (other, _, _)] = requests.asked
    assert (code, other) == (17, "b:1")
    assert fields == {
        "topic": "t",
        "defaultTopic": "TBW102",
        "readQueueNums": "3",
        "writeQueueNums": "16",
        "perm": "6",
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "true",
        "attributes": "+message.type=FIFO",
    }


def test_a_refusal_has_the_servers_code_and_remark() -> None:
    made, _ = admin(lambda _address, _code: Answer(16, "No permission", {}, b""))
    with pytest.raises(RequestFailed, match=r"a:1: No permission \(code 16\)") as refused:
        made.create_topic("t", {}, ["a:1"])
    assert refused.value.code == 16
    assert refused.value.is_refusal


def test_every_name_server_counts_that_has_a_route() -> None:
    routes = {"n:1": NO_ROUTE, "n:2": route(4, id0="a:1"), "n:3": route(8, id0="a:1")}
    made, _ = admin(lambda address, _code: routes[address], "n:1;n:2;n:3")
    assert [queue["queues"] for queue in made.route("t")["queues"]] == [4, 8]


def test_no_route_tells_more_than_silence() -> None:
    def answers(address: str, _code: int) -> Answer:
        if address == "n:1":
            raise RequestFailed("n:1 doesn't answer")
        return NO_ROUTE

    made, _ = admin(answers, "n:1;n:2")
    with pytest.raises(RequestFailed) as failed:
        made.route("t")
    assert failed.value.code == 17


def test_a_member_of_another_language_may_say_less() -> None:
    answer = (
        b'{"connectionSet":[{"clientAddr":"1.2.3.4:5","clientId":"b","language":"CPP","version":401},'
        b'{"clientAddr":"1.2.3.4:6","clientId":"a","language":"GO","version":0}],'
        b'"subscriptionTable":{"t":{"codeSet":[3,1],"subString":"x","subVersion":7,"tagsSet":["x","b"]}}}'
    )
    made, _ = admin(lambda _address, _code: success(answer))
    told = made.connection("g", "a:1")
    assert [(item["client_id"], item["version_name"]) for item in told["connections"]] == [
        ("a", None),
        ("b", "4.9.4"),
    ]
    assert told["subscriptions"]["t"] == {
        "expression": "x",
        "type": "TAG",
        "sub_version": 7,
        "tags": ["b", "x"],
        "codes": [1, 3],
    }
    assert (told["consume_type"], told["message_model"]) == (None, None)


def test_success_and_nothing_else_is_no_answer_of_a_member() -> None:
    made, _ = admin(lambda _address, _code: success(b""))
    with pytest.raises(RequestFailed, match="c answers with success, and nothing else"):
        made.running_info("g", "c", "a:1", 100)


def test_a_broker_that_is_gone_by_now_is_left_out_of_the_offsets() -> None:
    stats = (
        b'{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"t"}:{"maxOffset":5,"minOffset":0}}}'
    )
    gone: list[str] = []

    def answers(address: str, code: int) -> Answer:
        if code == 105:
            return route(1, id0="b:1" if gone else "a:1")
        if address in gone:
            raise RequestFailed(f"{address} is gone")
        return success({"offsetTable": {"t@g": {"0": 3}}} if code == 43 else stats)

    made, _ = admin(answers)
    seen = [{"broker": "broker-a", "queue_id": 0, "max_offset": 5, "consumer_offset": 3}]
    assert made.offsets("g", "t")["queues"] == seen
    gone.append("a:1")
    assert made.offsets("g", "t")["queues"] == seen
    gone.append("b:1")
    with pytest.raises(RequestFailed, match="b:1 is gone"):
        made.offsets("g", "t")


def test_a_message_is_looked_for_at_a_slave_where_the_master_is_gone() -> None:
    def answers(address: str, code: int) -> Answer:
        if code == 105:
            return route(1, id1="slave:1")
        assert address == "slave:1"
        return Answer(22, "not found", {}, b"")

    made, requests = admin(answers)
    assert made.find_message("t", "AC") is None
    assert requests.asked[1][2]["_UNIQUE_KEY_QUERY"] == "true"


def test_a_message_of_which_no_broker_can_say_anything_is_not_absent() -> None:
    def answers(_address: str, code: int) -> Answer:
        if code == 105:
            return route(1, id0="a:1")
        raise RequestFailed("a:1 is gone")

    made, _ = admin(answers)
    with pytest.raises(RequestFailed, match="a:1 is gone"):
        made.find_message("t", "AC")
