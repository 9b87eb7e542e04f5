"""The `java` worker with a planted fault: its listener acknowledges at once, and handles the messages later.

As an application does that hands messages over to threads of its own and answers CONSUME_SUCCESS. What it has
acknowledged and not handled when it is killed nobody will ever handle.
"""

from __future__ import annotations

import threading
from typing import Any

from rocketchaos.harness.workers.child import java_child
from rocketchaos.harness.workers.child.java_consumer import PushConsumer
from rocketchaos.harness.workers.child.java_messages import described_messages

HANDLED_AFTER_S = 1.0


def _acknowledge_first(consumer: Any, messages: Any, context: Any) -> Any:
    broker = str(context.getMessageQueue().getBrokerName())
    described = list(described_messages(messages, broker))

    def handle() -> None:
        seen, _ = consumer._listener.receive(described)
        consumer._listener.report(seen, str(consumer._success))

    threading.Timer(HANDLED_AFTER_S, handle).start()
    return consumer._success


if __name__ == "__main__":
    PushConsumer._consume_all = _acknowledge_first  # type: ignore[method-assign]
    java_child.main()
