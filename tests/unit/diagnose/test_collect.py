"""What a look asks again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from rocketchaos.harness.diagnose import collect
from rocketchaos.harness.diagnose.bundle import Recorded, read
from rocketchaos.harness.diagnose.checks.cluster import brokers
from rocketchaos.harness.diagnose.diagnosis import Diagnosis, Report
from rocketchaos.harness.diagnose.exchange import Exchange, Keep
from rocketchaos.harness.diagnose.finding import Unknown
from rocketchaos.harness.diagnose.requests import (
    GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    GET_BROKER_CONFIG,
    GET_BROKER_RUNTIME_INFO,
    GET_CONSUMER_RUNNING_INFO,
    GET_ROUTEINFO_BY_TOPIC,
)
from rocketchaos.harness.diagnose.view import ClusterView
from tests.unit.diagnose.reports import RECORDED, second_broker

# The answer of a broker of 4.9.4 in its first second.
YOUNG = "java.util.NoSuchElementException, java.base/java.util.LinkedList.getLast(LinkedList.java:261)"


class _Young(Recorded):
    """A recorded cluster whose broker has no statistics for its first so many answers."""

    failures = 0

    async def ask(
        self, look: int, address: str, code: int, fields: Mapping[str, str], keep: Keep | None = None
    ) -> Exchange:
        answer = await super().ask(look, address, code, fields, keep)
        if code == GET_BROKER_RUNTIME_INFO and self.failures:
            self.failures -= 1
            return replace(answer, answer_code=1, remark=YOUNG, body="")
        return answer


@pytest.mark.parametrize(("failures", "is_determined"), [(1, True), (2, True), (9, False)])
def test_a_young_broker_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, failures: int, is_determined: bool
) -> None:
    monkeypatch.setattr(collect, "YOUNG_BROKER_WAIT_S", 0.0)
    bundle = read(RECORDED / "mismatch-4.9.4.json")
    recorded = _Young(bundle.exchanges, bundle.looks)
    recorded.failures = failures
    report: Report = asyncio.run(Diagnosis(recorded, bundle.scope, recorded=recorded).run())
    assert ("RC0803" not in {item.check.code for item in report.undetermined}) is is_determined


class _Noting(Recorded):
    """A recorded cluster that notes who is asked to forward a question to a member."""

    forwarding: list[str]

    async def ask(
        self, look: int, address: str, code: int, fields: Mapping[str, str], keep: Keep | None = None
    ) -> Exchange:
        if code == GET_CONSUMER_RUNNING_INFO:
            self.forwarding.append(address)
        return await super().ask(look, address, code, fields, keep)


def test_brokers_take_turns_at_forwarding_and_each_member_is_asked_once() -> None:
    bundle = read(RECORDED / "mismatch-4.9.4.json")
    recorded = _Noting(list(second_broker()([item for item in bundle.exchanges if item.look == 0])), 1)
    recorded.forwarding = []
    report: Report = asyncio.run(Diagnosis(recorded, bundle.scope, recorded=recorded).run())
    assert len(recorded.forwarding) == 2
    assert len(set(recorded.forwarding)) == 2  # as many as there are brokers
    # A bundle has the answers, whichever broker forwarded them.
    assert all(member.answered for member in report.looks[0].members["group-1"].values())


class _Busy(Recorded):
    """A recorded cluster that leaves one question without an answer in its first look."""

    left_out: int
    asked: list[int]

    async def ask(
        self, look: int, address: str, code: int, fields: Mapping[str, str], keep: Keep | None = None
    ) -> Exchange:
        answer = await super().ask(0, address, code, fields, keep)
        if code != self.left_out:
            return answer
        self.asked.append(look)
        if look == 0:
            return replace(answer, answer_code=None, remark="", body="", error="no answer within 3 s")
        return answer


@pytest.mark.parametrize(
    "left_out", [GET_BROKER_CONFIG, GET_BROKER_RUNTIME_INFO, GET_ALL_SUBSCRIPTIONGROUP_CONFIG]
)
def test_settings_without_an_answer_are_asked_for_again_in_the_next_look(left_out: int) -> None:
    bundle = read(RECORDED / "mismatch-4.9.4.json")
    recorded = _Busy(bundle.exchanges, 4)
    recorded.left_out, recorded.asked = left_out, []
    report: Report = asyncio.run(Diagnosis(recorded, bundle.scope, recorded=recorded).run())
    assert "RC0803" not in {item.check.code for item in report.undetermined}
    # What is known isn't asked for again.
    assert recorded.asked == [0, 1]


@pytest.mark.parametrize(("answer_code", "again"), [(None, True), (16, False)])
def test_a_broker_that_answers_all_but_one_question_is_looked_at_again(
    answer_code: int | None, again: bool
) -> None:
    """A healthy group ended with exit code 3 where one answer took more than 3 s; a refusal stays one."""
    bundle = read(RECORDED / "mismatch-4.9.4.json")
    exchanges = [
        replace(item, answer_code=answer_code, remark="", body="", error="no answer within 3 s")
        if item.code == GET_BROKER_RUNTIME_INFO
        else item
        for item in bundle.exchanges
    ]
    recorded = Recorded(exchanges, 1)
    report: Report = asyncio.run(Diagnosis(recorded, bundle.scope, recorded=recorded).run())
    found = [item for item in brokers(ClusterView(report.looks, False)) if isinstance(item, Unknown)]
    assert [item.look_again for item in found] == [again]


def test_routes_without_an_answer_are_asked_for_again_in_the_next_look() -> None:
    bundle = read(RECORDED / "mismatch-4.9.4.json")
    answered = Recorded(bundle.exchanges, bundle.looks)
    expected: Report = asyncio.run(Diagnosis(answered, bundle.scope, recorded=answered).run())
    busy = _Busy([*bundle.exchanges, *(replace(item, look=1) for item in bundle.exchanges)], 2)
    busy.left_out, busy.asked = GET_ROUTEINFO_BY_TOPIC, []
    report: Report = asyncio.run(Diagnosis(busy, bundle.scope, recorded=busy).run())
    assert set(busy.asked) == {0, 1}
    assert {item.check.code for item in report.findings} == {item.check.code for item in expected.findings}
    assert {item.check.code for item in report.undetermined} == {
        item.check.code for item in expected.undetermined
    }
