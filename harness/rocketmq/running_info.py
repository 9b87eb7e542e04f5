"""A client's own report: ConsumerRunningInfo, as the Java and the C++ client write it."""

import json
from collections.abc import Mapping
from typing import Any

from rocketchaos.harness.rocketmq.fastjson import loads

_NO_QUEUES = (b'"mqTable":},', b'"mqTable":{},')


def running_info(body: bytes) -> Mapping[str, Any]:
    """The queues and subscriptions in the answer to GET_CONSUMER_RUNNING_INFO (307).

    The C++ client writes numbers as text, leaves `expressionType` out, and sets keys and values apart by line
    breaks in objects that are keys; of a member without queues it takes away the brace that opens their table
    (ConsumerRunningInfo::encode).

    Raises:
        ValueError: it is no such JSON.
    """
    answer = loads(body.replace(*_NO_QUEUES, 1))
    queues = [(json.loads(key), value) for key, value in answer.get("mqTable", {}).items()]
    return {
        "queues": [
            {
                "topic": queue["topic"],
                "broker": queue["brokerName"],
                "queue_id": int(queue["queueId"]),
                "commit_offset": int(held["commitOffset"]),
                "cached": int(held["cachedMsgCount"]),
            }
            for queue, held in queues
        ],
        "subscriptions": {
            item["topic"]: {
                "expression": item["subString"],
                "type": item.get("expressionType") or "TAG",
                "sub_version": int(item["subVersion"]),
            }
            for item in answer.get("subscriptionSet", ())
        },
    }
