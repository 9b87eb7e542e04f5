"""The Java worker's commands wait until its classes are loaded."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from rocketchaos.harness.workers.child.java_child import after


def test_a_command_begins_once_all_is_loaded() -> None:
    may_end, calls = threading.Event(), []
    warm_up = threading.Thread(target=may_end.wait, args=(30,), daemon=True)
    warm_up.start()

    def handler(**with_: Any) -> Mapping[str, Any] | None:
        calls.append((with_, warm_up.is_alive()))
        return {"started": True}

    command = threading.Thread(target=after(warm_up, handler), kwargs={"name": "a"}, daemon=True)
    command.start()
    assert calls == []
    may_end.set()
    command.join(30)
    assert calls == [({"name": "a"}, False)]
