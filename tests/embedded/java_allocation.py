"""Run by itself: RocketMQ's own allocation strategies, asked by JSON on standard input, in a JVM of its own."""

from __future__ import annotations

import json
import sys
from typing import Any

import jpype

from rocketchaos.harness.workers.child.java_strategies import strategy_of


def share(case: dict[str, Any]) -> list[list[Any]]:
    """What the class gives the member of one case; queues and ids sorted before, as RebalanceImpl does."""
    queue_class = jpype.JClass("org.apache.rocketmq.common.message.MessageQueue")
    queues, ids = jpype.JClass("java.util.ArrayList")(), jpype.JClass("java.util.ArrayList")()
    for broker, number in case["queues"]:
        queues.add(queue_class(case["topic"], broker, jpype.JInt(number)))
    for member in case["members"]:
        ids.add(jpype.JString(member))
    jpype.JClass("java.util.Collections").sort(queues)
    jpype.JClass("java.util.Collections").sort(ids)
    strategy = strategy_of(case["strategy"], case["configured"], case["rooms"])
    given = strategy.java.allocate("g", case["member"], queues, ids)
    return sorted([str(queue.getBrokerName()), int(queue.getQueueId())] for queue in given)


def main() -> None:
    """Answer all cases."""
    libjvm, *jars = sys.argv[1:]
    jpype.startJVM(
        "-Xmx64m", f"-Duser.home={jars.pop(0)}", jvmpath=libjvm, classpath=jars, convertStrings=False
    )
    json.dump([share(case) for case in json.load(sys.stdin)], sys.stdout)
    jpype.shutdownJVM()


if __name__ == "__main__":
    main()
