"""Which broker relays the question for a member's queues."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.probes.context import ProbeContext
from rocketchaos.harness.probes.ownership_probe import read_ownership
from rocketchaos.harness.scenario import parse_scenario
from tests.unit.scenario.examples import VALID

ANSWER = {"queues": [{"topic": "orders", "broker": "broker-b", "queue_id": 3}], "subscriptions": {}}


class Context:
    """As much of a run's context as the probe needs: brokers, by address with their answers to 307."""

    def __init__(self, answers: Mapping[str, Mapping[str, Any] | RequestFailed]) -> None:
        self.scenario = parse_scenario(VALID, "s.yaml")
        self.consumers = {
            name: SimpleNamespace(client_id=f"{name}@1", spec=spec, traits=spec.traits, changes=None)
            for name, spec in self.scenario.consumers.items()
        }
        self.names = SimpleNamespace(real=str, scenario=str)
        self.members = SimpleNamespace(online=lambda _group: tuple(self.consumers))
        self.servers = SimpleNamespace(
            members_at=lambda _group, _keeper: (),
            brokers_of_group=lambda _group: {f"broker {address}": address for address in answers},
            down={"broker-a": "stopped"},
        )
        self.written: list[str] = []
        self.observations = SimpleNamespace(
            write=lambda what, *_rest, **_more: self.written.append(what), only=lambda _probe: nullcontext()
        )
        self.admin = self
        self.asked: list[str] = []
        self._answers = answers

    def now_ns(self) -> int:
        return 0

    def running_info(self, _group: str, _client_id: str, address: str, _limit_ms: int) -> Mapping[str, Any]:
        self.asked.append(address)
        answer = self._answers[address]
        if isinstance(answer, RequestFailed):
            raise answer
        return answer


def read(context: Context) -> Any:
    return read_ownership(cast(ProbeContext, context), "a")


def test_a_broker_that_does_not_reach_the_member_leaves_it_to_the_next_one() -> None:
    context = Context({"a:1": RequestFailed("send request to a closed channel", 1), "b:1": ANSWER})
    assert read(context).queues == {"orders": (("broker-b", 3),)}
    assert context.asked == ["a:1", "b:1"]
    context = Context({"a:1": ANSWER, "b:1": ANSWER})
    read(context)
    assert context.asked == ["a:1"]


def test_a_member_that_no_broker_reaches_has_told_nothing() -> None:
    context = Context({"a:1": RequestFailed("closed", 1), "b:1": RequestFailed("not online", 206)})
    with pytest.raises(RequestFailed, match="not online"):
        read(context)
    assert not context.written
    with pytest.raises(RequestFailed, match="no broker can be asked about a"):
        read(Context({}))
