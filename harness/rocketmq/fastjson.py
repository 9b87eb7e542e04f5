"""RocketMQ's JSON, as fastjson writes it: not all of it is JSON."""

from __future__ import annotations

import json
import re
from typing import Any

_UNQUOTED_KEY = re.compile(r"([{,])\s*(-?\d+)\s*:")
_OBJECT_AS_KEY = re.compile(r"(\{[^{}]*\})\s*:")


def loads(body: bytes) -> Any:
    """RocketMQ's JSON: fastjson leaves integer keys of maps without quotes, and writes objects as keys.

    An object as a key, such as a MessageQueue, becomes its own JSON as text. Names of topics and groups can't hold
    `{` or `,` (org.apache.rocketmq.common.topic.TopicValidator), so that no string is mistaken for such a key.

    Raises:
        ValueError: it is no JSON even so.
    """
    text = _UNQUOTED_KEY.sub(r'\1"\2":', body.decode())
    return json.loads(_OBJECT_AS_KEY.sub(lambda found: f"{json.dumps(found[1])}:", text))
