"""Where a message lies, for a producer that doesn't learn it."""

from collections.abc import Mapping
from typing import Any

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.core.looking import look_until

_LIMIT_S = 10.0
_LOOK_EVERY_S = 0.02


def locate(admin: Admin, topic: str, msg_id: str) -> Mapping[str, Any]:
    """Broker, queue, offset and `offset_msg_id` of a message that was acknowledged, by its unique id.

    The proxy chooses the queue of what a gRPC client sends, and answers with the offset alone
    (`SendMessageActivity`, 5.3.3). Brokers find the message by their index, which is filled a moment later.

    Raises:
        EnvironmentNotReady: no broker shows it within 10 s.
    """
    found = look_until(
        lambda: admin.find_message(topic, msg_id), lambda found: found is not None, _LIMIT_S, _LOOK_EVERY_S
    )
    if found is None:
        raise EnvironmentNotReady(
            f"the message {msg_id} to topic {topic} was acknowledged, and no broker shows it within {_LIMIT_S:g} s"
        )
    return found
