"""Says yes to everything, and does nothing: a program that every check of workers must see through."""

import json
import os
import sys
import time

fd = int(sys.argv[sys.argv.index("--events-fd") + 1])


def emit(kind: str, data: dict[str, object]) -> None:
    event = {
        "mono_ns": time.monotonic_ns(),
        "wall_ms": time.time_ns() // 1_000_000,
        "kind": kind,
        "data": data,
    }
    os.write(fd, (json.dumps(event) + "\n").encode())


emit("ready", {"pid": os.getpid()})
for line in sys.stdin:
    command = json.loads(line)
    result = {"client_id": "x", "versions": {}, "queues": [], "found_pulls": 0, "passed_messages": 0}
    result |= dict.fromkeys(("status", "broker", "queue_id", "queue_offset", "msg_id", "offset_msg_id"), "0")
    emit("reply", {"id": command["id"], "ok": True, "result": result})
time.sleep(60)
