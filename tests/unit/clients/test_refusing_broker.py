"""The broker that is made by hand: it takes members, hands out an offset, and refuses pulls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pytest

from harness.clients.refusing_broker import RefusingBroker
from harness.cluster import remoting

PULLS: list[Mapping[str, str]] = []


@pytest.fixture
def broker() -> Iterator[RefusingBroker]:
    PULLS.clear()
    made = RefusingBroker("refusing", 215, PULLS.append)
    yield made
    made.close()


def test_it_knows_the_members_of_a_group_by_their_heartbeats(broker: RefusingBroker) -> None:
    heartbeat = {"clientID": "a@run", "consumerDataSet": [{"groupName": "g"}]}
    assert remoting.ask(broker.address, 34, body=json.dumps(heartbeat).encode()).code == 0
    members = remoting.ask(broker.address, 38, {"consumerGroup": "g"})
    assert json.loads(members.body) == {"consumerIdList": ["a@run"]}
    assert json.loads(remoting.ask(broker.address, 38, {"consumerGroup": "h"}).body) == {"consumerIdList": []}


def test_it_answers_each_pull_with_its_code_and_tells_of_it(broker: RefusingBroker) -> None:
    assert remoting.ask(broker.address, 14, {"consumerGroup": "g"}).fields == {"offset": "0"}
    assert [remoting.ask(broker.address, 11, {"consumerGroup": "g"}).code for _ in range(2)] == [215, 215]
    assert [pull["consumerGroup"] for pull in PULLS] == ["g", "g"]


def test_it_registers_one_readable_queue_and_is_gone_with_its_connection(broker: RefusingBroker) -> None:
    nameserver = RefusingBroker("stands for a name server", 0, PULLS.append)
    broker.register(nameserver.address, "cluster", "orders")
    broker.close()
    nameserver.close()
    with pytest.raises(ConnectionRefusedError):
        remoting.ask(broker.address, 11)
