"""`settle: {copied: broker-a-slave}` and `copied_offsets`: what a slave lacks, and when it lacks nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.conditions import Seen
from rocketchaos.harness.conditions.slave_copied import offsets_copied, slave_copied
from rocketchaos.harness.probes.context import ProbeContext
from rocketchaos.harness.rocketmq import remoting

MASTER, SLAVE = "10.0.0.1:1", "10.0.0.2:1"
ALL: Mapping[str, Any] = {
    "end": 900,
    "topics": ["orders", "%RETRY%g"],
    "groups": ["g"],
    "offsets": {"orders@g": {"0": 4}},
}


def answers(content: Mapping[str, Any]) -> dict[int, Any]:
    return {
        remoting.GET_BROKER_RUNTIME_INFO: {"table": {"commitLogMaxOffset": str(content["end"])}},
        remoting.GET_ALL_TOPIC_CONFIG: {"topicConfigTable": {key: {} for key in content["topics"]}},
        remoting.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: {
            "subscriptionGroupTable": {key: {} for key in content["groups"]}
        },
        remoting.GET_ALL_CONSUMER_OFFSET: {"offsetTable": content["offsets"]},
    }


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Of a master and a slave that answer what `slave` has; None: it doesn't answer."""
    made = SimpleNamespace(
        slave=dict(ALL),
        servers=SimpleNamespace(
            node_addresses={"broker-a": MASTER, "broker-a-slave": SLAVE},
            master_of=lambda _node: "broker-a",
            down={},
        ),
    )

    def ask(address: str, code: int) -> remoting.Answer:
        if made.slave is None:
            raise OSError("connection refused")
        content = ALL if address == MASTER else made.slave
        return remoting.Answer(0, "", {}, json.dumps(answers(content)[code]).encode())

    monkeypatch.setattr(remoting, "ask", ask)
    return made


def stored(context: SimpleNamespace) -> Seen:
    return slave_copied(cast(ProbeContext, context), "broker-a-slave")


def offsets(context: SimpleNamespace) -> Seen:
    return offsets_copied(cast(ProbeContext, context), "broker-a-slave")


def test_a_slave_that_has_all_holds(context: SimpleNamespace) -> None:
    assert stored(context).holds
    assert offsets(context).holds


@pytest.mark.parametrize(
    ("lacks", "text"),
    [
        ({"end": 899}, "lacks 1 byte of the commit log"),
        ({"topics": ["%RETRY%g"]}, "lacks the topic orders"),
        ({"groups": []}, "lacks the group g"),
    ],
)
def test_a_slave_that_lacks_something_is_waited_for(
    context: SimpleNamespace, lacks: Mapping[str, Any], text: str
) -> None:
    context.slave.update(lacks)
    seen = stored(context)
    assert not seen.holds
    assert text in seen.text
    assert offsets(context).holds  # which are another condition


@pytest.mark.parametrize("copied", [{}, {"orders@g": {}}, {"orders@g": {"0": 3}}])
def test_older_offsets_are_no_copies(context: SimpleNamespace, copied: Mapping[str, Any]) -> None:
    context.slave.update(offsets=copied)
    assert offsets(context).text == "broker-a-slave lacks offsets of orders@g"
    assert stored(context).holds


def test_a_slave_may_be_ahead_of_what_its_master_had(context: SimpleNamespace) -> None:
    context.slave.update(end=901, offsets={"orders@g": {"0": 5, "1": 0}})
    assert stored(context).holds
    assert offsets(context).holds


def test_who_does_not_answer_is_not_copied(context: SimpleNamespace) -> None:
    context.slave = None
    assert stored(context) == Seen(False, "broker-a or broker-a-slave doesn't answer: connection refused")
    del context.servers.node_addresses["broker-a"]
    context.servers.down = {"broker-a": "killed"}
    assert stored(context) == Seen(False, "broker-a can't be asked: it is killed")


def test_once_another_node_is_the_master_its_former_one_is_the_copy(context: SimpleNamespace) -> None:
    context.servers.master_of = lambda _node: "broker-a-slave"
    assert stored(context) == Seen(False, "broker-a-slave is the master")
    context.slave.update(end=1000)
    seen = slave_copied(cast(ProbeContext, context), "broker-a")
    assert seen == Seen(False, "broker-a lacks 100 bytes of the commit log")
