"""The gate lets pass what changes nothing, signs as RocketMQ does, and never waits longer than it may."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl

import pytest

from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.diagnose.gate import Access, Gate, Limits
from rocketchaos.harness.diagnose.requests import READ_ONLY
from rocketchaos.harness.rocketmq.remoting import RESPONSE, decoded, frame, lengths


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


def test_a_server_that_answers_nothing_costs_a_look_one_limit() -> None:
    async def ask(address: str) -> list[str]:
        async with Gate(limits=Limits(answer_s=0.3, under_way=2)) as gate:
            first = await asyncio.gather(*(gate.ask(0, address, 106, {}) for _ in range(4)))
            second = await gate.ask(1, address, 106, {})
            return [item.error for item in (*first, second)]

    with socket.create_server(("127.0.0.1", 0)) as mute:
        errors = asyncio.run(ask(f"127.0.0.1:{mute.getsockname()[1]}"))
    late, not_asked = "no answer within 0.3 s", "not asked: it answered nothing for 0.3 s"
    assert errors == [late, late, not_asked, not_asked, late]


def test_a_server_that_answers_something_is_asked_on() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                header, body = lengths(await reader.readexactly(8))
                asked = decoded(await reader.readexactly(header), await reader.readexactly(body))
                if asked.answer.code == 105:
                    writer.write(frame(0, asked.opaque, {}, flag=RESPONSE))
        writer.close()

    async def ask() -> list[str]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server, Gate(limits=Limits(answer_s=0.3)) as gate:
            address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
            asked = [gate.ask(0, address, code, {}) for code in (106, 105)]
            return [
                item.error for item in (*await asyncio.gather(*asked), await gate.ask(0, address, 105, {}))
            ]

    assert asyncio.run(ask()) == ["no answer within 0.3 s", "", ""]


@pytest.mark.parametrize("tls", [None, ssl.create_default_context()])
def test_a_server_that_closes_the_connection_may_take_tls_alone(tls: ssl.SSLContext | None) -> None:
    async def ask() -> str:
        async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, Gate(Access(tls=tls)) as gate:
            return (await gate.ask(0, f"127.0.0.1:{port}", 106, {})).error

    assert ("as one does that takes TLS alone: see `--tls`" in asyncio.run(ask())) == (tls is None)


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
