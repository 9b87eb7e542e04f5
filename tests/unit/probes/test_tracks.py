"""Tracks are asked for some at a time, and written down in the order of the messages."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any, cast

from rocketchaos.harness.clients.producer import Acknowledged
from rocketchaos.harness.core.errors import RequestFailed
from rocketchaos.harness.probes.tracks_probe import read_tracks


class Context:
    """A run's context, as far as tracks need it; the first message is answered after the second one."""

    def __init__(self) -> None:
        self.admin = self.observations = self
        self.names = SimpleNamespace(real=str, scenario=str)
        self.scenario = SimpleNamespace(groups=("g",))
        self.written: list[tuple[str, object]] = []
        self._second_asked = threading.Event()

    def only(self, _probe: str) -> AbstractContextManager[object]:
        return nullcontext()

    def now_ns(self) -> int:
        return 0

    def tracks(self, _topic: str, offset_msg_id: str) -> dict[str, Any]:
        if offset_msg_id == "0":
            assert self._second_asked.wait(10)
        if offset_msg_id == "1":
            self._second_asked.set()
        if offset_msg_id == "2":
            raise RequestFailed("the broker is gone", None)
        return {"tracks": [{"group": "g", "type": f"TYPE_{offset_msg_id}", "exception": None}]}

    def write(self, what: str, _kind: str, data: dict[str, Any], _moment: str, _began_ns: int) -> None:
        self.written.append((what, data["tracks"]))

    def note_failure(self, probe: str, error: str, *, key: str) -> None:
        self.written.append((f"{probe} {key}", error))


def test_answers_are_written_in_order_whoever_is_answered_first() -> None:
    context = Context()
    messages = [Acknowledged(f"k{n}", "orders", "broker-a", 0, n, f"id-{n}", str(n)) for n in range(4)]
    read_tracks(cast(Any, context), messages, "end")
    assert context.written == [
        ("tracks k0", {"g": "TYPE_0"}),
        ("tracks k1", {"g": "TYPE_1"}),
        ("tracks k2", "the broker is gone"),
        ("tracks k3", {"g": "TYPE_3"}),
    ]
