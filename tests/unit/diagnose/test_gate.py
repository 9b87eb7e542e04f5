"""The gate lets pass what changes nothing, signs as RocketMQ does, and never waits longer than it may."""

from __future__ import annotations

import asyncio
import socket

import pytest

from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.diagnose.gate import Access, Gate, Limits
from rocketchaos.harness.diagnose.requests import READ_ONLY


@pytest.mark.parametrize("code", [10, 11, 15, 17, 25, 34, 35, 36, 200, 207, 215, 222, 310])
def test_what_changes_something_never_passes(code: int) -> None:
    assert code not in READ_ONLY
    with pytest.raises(HarnessDefect):
        asyncio.run(Gate().ask(0, "127.0.0.1:1", code, {}))


def test_who_does_not_answer_is_reported_as_such_within_the_limit() -> None:
    async def ask(address: str) -> tuple[str, str]:
        async with Gate(Access(), Limits(answer_s=0.3)) as gate:
            first = await gate.ask(0, address, 106, {})
            assert gate.record == [first]
            return first.error, first.why_not

    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        text, _ = asyncio.run(ask(address))
    assert text == "no answer within 0.3 s"
    text, why_not = asyncio.run(ask(address))
    assert text == "no connection: Connection refused"
    assert why_not == text


def test_nothing_is_asked_once_the_time_is_over() -> None:
    async def ask() -> str:
        async with Gate(limits=Limits(total_s=0)) as gate:
            return (await gate.ask(0, "127.0.0.1:1", 106, {})).error

    assert asyncio.run(ask()) == "not asked: the limit of 0 s is over"


def test_one_address_is_asked_no_faster_than_it_may() -> None:
    async def ask(times: int) -> float:
        async with Gate(limits=Limits(per_second=20)) as gate:
            begin = asyncio.get_running_loop().time()
            await asyncio.gather(*(gate.ask(0, "127.0.0.1:1", 106, {}) for _ in range(times)))
            return asyncio.get_running_loop().time() - begin

    assert asyncio.run(ask(5)) >= 4 / 20
