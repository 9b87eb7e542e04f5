"""A connection to one broker that stays open, as every client's does, and over which the broker may ask too."""

import contextlib
import itertools
import socket
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future

from rocketchaos.harness.rocketmq import remoting
from rocketchaos.harness.rocketmq.remoting import Answer

_CONNECT_LIMIT_S = 3.0

OnRequest = Callable[[Answer], None]
"""Called with every request of the broker, in their order, from the connection's own thread."""


class Connection:
    """One socket, with a thread that reads it.

    It passes the broker's requests on. It answers those that want a response with "not supported".
    """

    def __init__(self, address: str, on_request: OnRequest) -> None:
        """
        Raises:
            OSError: there is no connection within 3 s.
        """
        self.address = address
        self._on_request = on_request
        self._socket = remoting.connect(address, _CONNECT_LIMIT_S)
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Answer]] = {}
        self._end: Exception | None = None
        self._reader = threading.Thread(target=self._read, name=f"connection {address}", daemon=True)
        self._reader.start()

    @property
    def closed(self) -> bool:
        """It is gone, on either side's account."""
        return self._end is not None

    def ask(
        self, code: int, fields: Mapping[str, str] | None = None, body: bytes = b"", *, limit_s: float = 3.0
    ) -> Answer:
        """Send one request and wait for the answer to it.

        Raises:
            OSError: the connection is gone, or there is no answer within the limit.
        """
        answer: Future[Answer] = Future()
        with self._lock:
            if self._end is not None:
                raise ConnectionError(f"the connection to {self.address} is gone: {self._end}")
            number = next(self._numbers)
            self._waiting[number] = answer
            self._socket.sendall(remoting.frame(code, number, fields or {}, body))
        try:
            return answer.result(limit_s)
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        """Close it; the broker sees that at once. Idempotent; every request read before has been handed on."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._reader.join()
        self._socket.close()

    def _read(self) -> None:
        try:
            while True:
                frame = remoting.read_frame(self._socket, None)
                if frame.is_response:
                    waiting = self._waiting.get(frame.opaque)
                    if waiting is not None:
                        waiting.set_result(frame.answer)
                    continue
                self._on_request(frame.answer)
                if frame.wants_response:
                    self._refuse(frame.opaque)
        except Exception as error:  # whatever it was, nobody may wait for this connection any more
            with self._lock:
                self._end = error
                waiting_for = list(self._waiting.values())
        for answer in waiting_for:
            if not answer.done():  # whoever waits may not have taken it out yet
                answer.set_exception(
                    ConnectionError(f"the connection to {self.address} is gone: {self._end}")
                )

    def _refuse(self, number: int) -> None:
        with self._lock:
            self._socket.sendall(remoting.frame(remoting.UNSUPPORTED, number, {}, flag=remoting.RESPONSE))
