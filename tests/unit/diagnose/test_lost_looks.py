"""A name server that restarts while the diagnosis looks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rocketchaos.harness.cli.diagnose import Watch, code_of
from rocketchaos.harness.cli.diagnose_options import Output
from rocketchaos.harness.core.errors import EnvironmentNotReady, ExitCode
from rocketchaos.harness.diagnose.changes import Reach, registrations
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Level
from rocketchaos.harness.diagnose.metrics import Metrics
from rocketchaos.harness.diagnose.model import Look
from rocketchaos.harness.diagnose.output.document import document
from rocketchaos.harness.diagnose.output.page import page
from tests.unit.diagnose.broker_edits import offset
from tests.unit.diagnose.member_edits import ALIKE
from tests.unit.diagnose.reports import (
    BROKER,
    SECOND,
    Edit,
    by_look,
    codes,
    diagnosed,
    diagnosis,
    each,
    second_broker,
)

RECORDED = "mismatch-4.9.4.json"
STANDS = offset(lambda _look: 1)


def _silent(*looks: int) -> Edit:
    def change(item: Exchange) -> Exchange:
        if item.code not in (105, 106) or item.look not in looks:
            return item
        return Exchange(item.look, item.address, item.code, item.fields, item.at_ms, 1.0, error="refused")

    return each(change)


def _knows_no_broker(look_without: int) -> Any:
    def change(document: Any, look: int) -> None:
        if look == look_without:
            document.update(brokerAddrTable={}, clusterAddrTable={})

    return by_look(106, change)


@pytest.mark.parametrize("lost", [_silent(3, 4), _knows_no_broker(6), _silent(6)])
def test_a_look_that_reaches_nobody_is_left_out(lost: Any) -> None:
    report = diagnosed(RECORDED, ALIKE, *STANDS, lost, looks=17)
    assert codes(report) == {"RC0501"}
    assert 0 < 17 - len(report.looks) <= 2


def test_the_first_look_must_reach_somebody() -> None:
    with pytest.raises(EnvironmentNotReady):
        diagnosed(RECORDED, ALIKE, *STANDS, _silent(0), looks=17)


def test_brokers_that_have_ended_are_a_reason_why_a_name_server_knows_none() -> None:
    with pytest.raises(EnvironmentNotReady, match="knows no broker") as raised:
        diagnosed(RECORDED, ALIKE, _knows_no_broker(0))
    assert raised.value.hint.startswith("Check whether its brokers run")


def test_the_findings_of_a_watch_are_kept_if_nobody_answers_at_its_end() -> None:
    report = diagnosed(RECORDED, ALIKE, *STANDS, _silent(16), looks=17)
    assert codes(report) == {"RC0501"}
    assert report.unreached.startswith("no name server answers: ")
    assert code_of(report, Level.WARNING) == ExitCode.ENVIRONMENT
    assert document(report, ExitCode.ENVIRONMENT)["unreached"] == report.unreached
    assert "Nobody answered after that" in page(report, ExitCode.ENVIRONMENT)
    assert not diagnosed(RECORDED, ALIKE, looks=2).unreached


def test_a_broker_that_comes_later_is_asked_for_its_settings_at_once() -> None:
    def late(document: Any, look: int) -> None:
        if look == 0:
            del document["brokerAddrTable"][SECOND]

    report = diagnosed(RECORDED, ALIKE, *STANDS, second_broker(), by_look(106, late), looks=3)
    assert [bool(look.brokers[SECOND].asked) for look in report.looks[1:]] == [True, True]
    assert SECOND not in report.looks[0].brokers


def test_a_watch_tells_once_that_nobody_answers_and_that_servers_answer_again() -> None:
    reach, told = Reach(), list[str]()
    watched = diagnosis(RECORDED, ALIKE, _silent(1, 2), looks=5)
    watched.on_look = lambda report: told.extend(reach.of(report))
    watched.on_lost = lambda look, why: told.extend(reach.lost(look, why))
    asyncio.run(watched.run())
    lost, again = told
    assert "Z no name server answers: " in lost
    assert lost.endswith(": refused")
    assert again.endswith("Z servers answer again")


def test_the_metrics_of_a_watch_say_that_nobody_is_reachable() -> None:
    with Metrics("127.0.0.1", 0) as metrics:
        watched = diagnosis(RECORDED, ALIKE, _silent(1, 2), looks=3)
        watched.on_look, watched.on_lost = Watch(60.0, None, Output.JSON).tell(metrics)
        assert asyncio.run(watched.run()).unreached
    assert "rocketchaos_diagnose_reachable 0\n" in metrics.text


def test_a_watch_tells_which_brokers_come_leave_or_move() -> None:
    def served(document: Any, look: int) -> None:
        known = document["brokerAddrTable"]
        if look == 0:
            del known[SECOND]
        if look == 2:
            known[SECOND]["brokerAddrs"]["0"] = "10.0.0.9:10911"
        if look == 3:
            known[SECOND]["brokerAddrs"]["1"] = "10.0.0.9:10921"
            del known[BROKER]

    lines = list[str]()
    watched = diagnosis(RECORDED, ALIKE, *STANDS, second_broker(), by_look(106, served), looks=5)
    watched.on_look = lambda report: lines.extend(registrations(report))
    report = asyncio.run(watched.run())
    first, second = (report.looks[1].brokers[name].address for name in (BROKER, SECOND))
    assert [line.split("Z ", 1)[1] for line in lines] == [
        f"broker {SECOND} at {second} is registered now",
        f"broker {SECOND} was at {second}, and is at 10.0.0.9:10911 now",
        f"broker {BROKER} at {first} is no longer registered",
        f"broker {SECOND} was at 10.0.0.9:10911, and is at {second} now",
        f"broker {SECOND}, id 1, at 10.0.0.9:10921 is registered now",
        f"broker {BROKER} at {first} is registered now",
        f"broker {SECOND}, id 1, at 10.0.0.9:10921 is no longer registered",
    ]


def test_a_broker_that_comes_brings_its_routes_at_once() -> None:
    def late(document: Any, look: int) -> None:
        if look == 0:
            del document["brokerAddrTable"][SECOND]

    def without(document: Any, look: int) -> None:
        if look == 0 and "queueDatas" in document:
            document["queueDatas"] = [each for each in document["queueDatas"] if each["brokerName"] != SECOND]

    report = diagnosed(
        RECORDED, ALIKE, *STANDS, second_broker(), by_look(106, late), by_look(105, without), looks=2
    )
    assert [SECOND in _holders(look) for look in report.looks] == [False, True]


def _holders(look: Look) -> set[str]:
    return {name for route in look.routes["topic-1"].values() for name in route.brokers}
