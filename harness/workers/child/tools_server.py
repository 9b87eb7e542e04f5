"""The tools of a cluster that stays up: an `admin` worker that any process of its user asks by a socket.

Each connection carries one command and its reply, lines as `harness.workers.protocol` has them.
"""

from __future__ import annotations

from rocketchaos.harness.workers import jpype_without_numpy  # noqa: F401  (before jpype)

# isort: split

import argparse
import json
import os
import socketserver
from collections.abc import Mapping
from pathlib import Path

from rocketchaos.harness.workers.child import jvm
from rocketchaos.harness.workers.child.admin_child import AdminWorker
from rocketchaos.harness.workers.protocol import Handler, ping, reply_line


class ToolsServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers every connection in a thread of its own."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, path: Path, handlers: Mapping[str, Handler]) -> None:
        """Listen at `path`, which is there once connections are taken."""
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        super().__init__(str(part), _Connection)
        self.handlers = handlers
        part.replace(path)


class _Connection(socketserver.StreamRequestHandler):
    server: ToolsServer

    def handle(self) -> None:
        if line := self.rfile.readline():
            self.wfile.write(reply_line(self.server.handlers, json.loads(line)))


def main() -> None:
    """Start the JVM, connect to the cluster, and serve until this process is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--nameserver", required=True)
    own, words = parser.parse_known_args()
    given = jvm.arguments(words)
    jvm.start(given)
    worker = AdminWorker(given)
    worker.connect(own.nameserver, f"tools-{os.getpid()}")
    with ToolsServer(own.socket, {"ping": ping, **jvm.translated(worker.handlers)}) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
