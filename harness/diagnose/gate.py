"""The one way from a diagnosis to a cluster: checks, paces, signs and records every request."""

from __future__ import annotations

import asyncio
import math
import os
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from rocketchaos.harness.core.errors import HarnessDefect
from rocketchaos.harness.diagnose.exchange import Exchange, Keep
from rocketchaos.harness.diagnose.requests import GET_CONSUMER_RUNNING_INFO, READ_ONLY
from rocketchaos.harness.diagnose.silence import Silence
from rocketchaos.harness.rocketmq import reach, remoting
from rocketchaos.harness.rocketmq.remoting import Answer
from rocketchaos.harness.rocketmq.signature import Secrets

_NO_ANSWER = 207
"""CONSUME_MSG_TIMEOUT: a broker's answer for a member that gave none within 10 s."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a diagnosis may cost a cluster."""

    answer_s: float = 3.0
    """For one answer, its connection included."""
    relayed_s: float = 1.7
    """For an answer that a member gives by way of its broker; a healthy one takes milliseconds. With less than 2 s
    a whole look stays within 3 s, the start of the command included."""
    per_second: float = 100.0
    """Requests to one address."""
    relayed_per_second: float = 20.0
    """Requests to members by way of one address."""
    under_way: int = 16
    """Requests without an answer yet, to one address."""
    total_s: float = 120.0
    """For everything; the report names what wasn't asked by then."""


@dataclass(frozen=True, slots=True)
class Access:
    """How servers are reached."""

    secrets: Secrets | None = None
    tls: ssl.SSLContext | None = None
    mapped: Mapping[str, str] = field(default_factory=dict)
    """By an address that brokers advertise: the address that reaches it from here, both `host:port`."""

    def dialled(self, address: str) -> tuple[str, int]:
        """Host and port to connect to.

        Raises:
            OSError: it can't be reached from here.
            ValueError: it is no `host:port`.
        """
        host, _, port = reach.reachable(self.mapped.get(address, address)).rpartition(":")
        return host.strip("[]"), int(port)


class Gate:
    """Asks servers over one connection to each, and records every question and answer."""

    def __init__(
        self,
        access: Access | None = None,
        limits: Limits | None = None,
        *,
        recorded: bool = True,
        silence: Silence | None = None,
        progress: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """Open none of its connections yet.

        Args:
            access: how servers are reached.
            limits: the most that it may cost.
            recorded: every exchange is kept, as long as the gate is.
            silence: the members that are left alone for a moment; default: those of this gate.
            progress: hears what takes seconds.
        """
        self.limits = limits or Limits()
        self.record: list[Exchange] = []
        self._recorded = recorded
        self._access = access or Access()
        self._silence = silence or Silence()
        self._progress = progress
        self._lines: dict[str, _Line] = {}
        self._hung: dict[str, int] = {}
        """The address of a server that answered nothing for a whole limit, and the look in which it did so."""
        self._end = time.monotonic() + self.limits.total_s

    async def ask(
        self, look: int, address: str, code: int, fields: Mapping[str, str], keep: Keep | None = None
    ) -> Exchange:
        """Ask once, without retries; an error is in the exchange, which is in the record.

        Raises:
            HarnessDefect: the request is not on the list of those that change nothing.
        """
        if code not in READ_ONLY:
            raise HarnessDefect(f"a diagnosis tried to send {code}, which may change something")
        line = self._lines.setdefault(address, _Line(address, self._access, self.limits))
        relayed = code == GET_CONSUMER_RUNNING_INFO
        exchange = Exchange(look, address, code, dict(fields), int(time.time() * 1000))
        begin = time.monotonic()
        try:
            async with asyncio.timeout(self._end - begin):
                if relayed and (left_s := self._silence.left_s(fields)):
                    self._progress(
                        f"{fields['clientId']} didn't answer a moment ago: it is asked again in {left_s:.0f} s"
                    )
                    # Nothing could be awaited: a question whether it answers by now is what must not come.
                    await asyncio.sleep(left_s)
                async with line.turn(relayed):
                    if self._hung.get(address) == look:
                        raise _Late(f"not asked: it answered nothing for {self.limits.answer_s:g} s")
                    if relayed:
                        self._silence.note(fields)  # until it answers, also if this command ends meanwhile
                    exchange = replace(exchange, at_ms=int(time.time() * 1000))
                    begin = time.monotonic()
                    limit_s = self.limits.relayed_s if relayed else self.limits.answer_s
                    answer = await line.ask(code, fields, limit_s)
        except _Late as late:
            exchange = replace(exchange, error=str(late))
            # Further questions of this look would wait as long. A relayed one waits for a member.
            if not relayed and line.answered_s < begin:
                self._hung[address] = look
        except TimeoutError:
            exchange = replace(exchange, error=f"not asked: the limit of {self.limits.total_s:g} s is over")
        except (OSError, ValueError, EOFError) as error:
            exchange = replace(exchange, error=f"no connection: {_in_words(error)}")
        else:
            body = keep(answer.body) if keep and answer.code == 0 else answer.body
            exchange = replace(
                exchange,
                answer_code=answer.code,
                remark=self._without_secrets(answer.remark),
                answer_fields=answer.fields,
                body=body.decode(errors="replace"),
            )
            if relayed and answer.code != _NO_ANSWER:
                self._silence.forget(fields)
        exchange = replace(exchange, took_ms=round((time.monotonic() - begin) * 1000, 1))
        if self._recorded:
            self.record.append(exchange)
        return exchange

    def _without_secrets(self, remark: str) -> str:
        """A refusal may name the key that was refused."""
        secrets = self._access.secrets
        for secret in (secrets.access_key, secrets.secret_key) if secrets else ():
            remark = remark.replace(secret, "(key)")
        return remark

    async def close(self) -> None:
        """End all connections. Idempotent."""
        for line in self._lines.values():
            await line.close()

    async def __aenter__(self) -> Gate:
        return self

    async def __aexit__(self, *_unused: object) -> None:
        await self.close()


class _Late(Exception):
    """No answer in time."""


def _in_words(error: BaseException) -> str:
    if isinstance(error, asyncio.IncompleteReadError):
        return "the server closed the connection"
    if isinstance(error, OSError) and (error.errno or 0) > 0:
        return os.strerror(error.errno or 0)  # its own text is asyncio's "Connect call failed"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class _Line:
    """The connection to one address, and its pace."""

    def __init__(self, address: str, access: Access, limits: Limits) -> None:
        self._address = address
        self._access = access
        self._limits = limits
        self._places = asyncio.Semaphore(limits.under_way)
        self._opening = asyncio.Lock()
        self._next = {False: 0.0, True: 0.0}
        self._numbers = 0
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._reader: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._refused: OSError | None = None
        self.answered_s = -math.inf
        """When it answered last, by `time.monotonic`."""

    @asynccontextmanager
    async def turn(self, relayed: bool) -> AsyncIterator[None]:
        """Wait until one more request may be under way, which it is within the block."""
        async with self._places:
            gap_s = 1 / (self._limits.relayed_per_second if relayed else self._limits.per_second)
            now = time.monotonic()
            at = max(now, self._next[relayed])
            self._next[relayed] = at + gap_s
            if at > now:
                await asyncio.sleep(at - now)  # a rate limit: no condition is awaited
            yield

    async def ask(self, code: int, fields: Mapping[str, str], limit_s: float) -> Answer:
        try:
            async with asyncio.timeout(limit_s):
                writer = await self._open()
                self._numbers += 1
                number = self._numbers
                answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
                self._waiting[number] = answer
                secrets = self._access.secrets
                writer.write(remoting.frame(code, number, secrets.signed(fields) if secrets else fields))
                try:
                    return await answer
                finally:
                    self._waiting.pop(number, None)
        except TimeoutError:
            raise _Late(f"no answer within {limit_s:g} s") from None

    async def _open(self) -> asyncio.StreamWriter:
        async with self._opening:
            if self._refused is not None:  # one that can't be reached is tried once
                raise self._refused
            if self._writer is None or self._reader is None or self._reader.done():
                try:
                    host, port = self._access.dialled(self._address)
                    reader, self._writer = await asyncio.open_connection(host, port, ssl=self._access.tls)
                except TimeoutError:
                    self._refused = TimeoutError("no connection in time")
                    raise
                except (OSError, ValueError) as error:
                    self._refused = ConnectionError(_in_words(error))
                    raise self._refused from error
                except asyncio.CancelledError:
                    self._refused = TimeoutError("no connection in time")
                    raise
                self._reader = asyncio.create_task(self._read(reader))
            return self._writer

    async def _read(self, reader: asyncio.StreamReader) -> None:
        failure: Exception = ConnectionError("the server closed the connection")
        try:
            while True:
                header_length, body_length = remoting.lengths(await reader.readexactly(8))
                header = await reader.readexactly(header_length)
                found = remoting.decoded(header, await reader.readexactly(body_length))
                self.answered_s = time.monotonic()
                waiting = self._waiting.get(found.opaque)
                if found.is_response and waiting is not None and not waiting.done():
                    waiting.set_result(found.answer)
        except (OSError, EOFError) as error:
            failure = ConnectionError(f"{_in_words(error)}{self._hint}")
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(failure)

    @property
    def _hint(self) -> str:
        """What may be wrong with a server that closes connections."""
        if self._access.tls is not None or self.answered_s > -math.inf:
            return ""
        return " and answered nothing, as one does that takes TLS alone: see `--tls`"

    async def close(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader
        if self._writer is not None:
            # Nothing is under way. To close it in order would wait 30 s for a TLS server that doesn't say goodbye.
            self._writer.transport.abort()
            with suppress(OSError):
                await self._writer.wait_closed()
