"""A member that didn't answer is left alone for 10 s, by the next command too."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.gate import Gate, Limits
from rocketchaos.harness.diagnose.requests import GET_CONSUMER_CONNECTION_LIST, GET_CONSUMER_RUNNING_INFO
from rocketchaos.harness.diagnose.silence import SILENT_S, Silence
from rocketchaos.harness.rocketmq.remoting import RESPONSE, decoded, frame, lengths

MEMBER = {"consumerGroup": "g", "clientId": "a"}


@asynccontextmanager
async def broker(code: int | None) -> AsyncIterator[str]:
    """The address of a broker that answers everything with this code; None: with nothing."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while begin := await reader.read(8):
            header, body = lengths(begin)
            asked = decoded(await reader.readexactly(header), await reader.readexactly(body))
            if code is not None:
                writer.write(frame(code, asked.opaque, {}, flag=RESPONSE))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


def ask_twice(
    code: int | None, folder: Path | None, number: int = GET_CONSUMER_RUNNING_INFO
) -> list[Exchange]:
    """Two commands, one after the other, that may take half a second each."""

    async def ask() -> list[Exchange]:
        found = []
        async with broker(code) as address:
            for _ in range(2):
                async with Gate(
                    limits=Limits(relayed_s=0.2, answer_s=0.2, total_s=0.5), silence=Silence(folder)
                ) as gate:
                    found.append(await gate.ask(0, address, number, MEMBER))
        return found

    return asyncio.run(ask())


@pytest.mark.parametrize("code", [None, 207], ids=["no answer", "CONSUME_MSG_TIMEOUT"])
def test_the_next_command_leaves_a_silent_member_alone(tmp_path: Path, code: int | None) -> None:
    first, second = ask_twice(code, tmp_path / "silent")
    assert first.answer_code == code
    assert second.error == "not asked: the limit of 0.5 s is over"
    assert [item.error for item in ask_twice(None, None)] == ["no answer within 0.2 s"] * 2


@pytest.mark.parametrize("code", [0, 206], ids=["SUCCESS", "CONSUMER_NOT_ONLINE"])
def test_whoever_answers_may_be_asked_again_at_once(tmp_path: Path, code: int) -> None:
    folder = tmp_path / "silent"
    assert [item.answer_code for item in ask_twice(code, folder)] == [code, code]
    assert list(folder.iterdir()) == []


def test_questions_to_brokers_themselves_never_wait(tmp_path: Path) -> None:
    errors = [item.error for item in ask_twice(None, tmp_path / "silent", GET_CONSUMER_CONNECTION_LIST)]
    assert errors == ["no answer within 0.2 s"] * 2


def test_waiting_is_shown(tmp_path: Path) -> None:
    async def ask(shown: list[str]) -> None:
        silence = Silence(tmp_path)
        silence.note(MEMBER)
        async with Gate(limits=Limits(total_s=0.1), silence=silence, progress=shown.append) as gate:
            await gate.ask(0, "127.0.0.1:1", GET_CONSUMER_RUNNING_INFO, MEMBER)

    shown: list[str] = []
    asyncio.run(ask(shown))
    assert shown == ["a didn't answer a moment ago: it is asked again in 10 s"]


def test_after_10_s_it_may_be_asked_again_and_its_file_goes(tmp_path: Path) -> None:
    silence = Silence(tmp_path)
    silence.note(MEMBER)
    silence.note({"consumerGroup": "g", "clientId": "b"})
    assert SILENT_S - 5 < Silence(tmp_path).left_s(MEMBER) <= SILENT_S
    assert Silence(tmp_path).left_s({"consumerGroup": "g2", "clientId": "a"}) == 0
    for file in tmp_path.iterdir():
        os.utime(file, (0, time.time() - SILENT_S - 1))
    assert Silence(tmp_path).left_s(MEMBER) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_clock_that_was_set_back_costs_no_more_than_10_s(tmp_path: Path) -> None:
    Silence(tmp_path).note(MEMBER)
    (file,) = tmp_path.iterdir()
    os.utime(file, (0, time.time() + 86_400))
    assert Silence(tmp_path).left_s(MEMBER) == SILENT_S


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    silence = Silence(tmp_path / "file" / "silent")
    silence.note(MEMBER)
    assert silence.left_s(MEMBER) > SILENT_S - 5
    silence.forget(MEMBER)
    assert silence.left_s(MEMBER) == 0
