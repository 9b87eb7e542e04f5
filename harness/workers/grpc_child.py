"""The `grpc` worker: rocketmq-python-client (5.1.2), which talks gRPC with the proxy of RocketMQ 5.

The commands are those of `harness.workers.protocol`.
"""

from __future__ import annotations

import argparse
import functools
import os
from pathlib import Path
from typing import Any

from harness.workers.client_worker import ClientWorker, ConsumerClient, ProducerClient
from harness.workers.protocol import CommandFailed, EventPipe, serve


def _consumer(events: EventPipe, name: str, api: str = "push", **with_: Any) -> ConsumerClient:
    from harness.workers.grpc_consumer import new_consumer

    return new_consumer(events, api, name, **with_)


def _producer(**with_: Any) -> ProducerClient:
    from harness.workers.grpc_producer import GrpcProducer

    return GrpcProducer(**with_)


def main() -> None:
    """Serve commands until standard input closes, then end this process at once: the client keeps threads."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events-fd", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="for what the client writes")
    given = parser.parse_args()
    events = EventPipe(given.events_fd)
    # When it is imported the package opens its log there, in logs/rocketmq_python (rocketmq.v5.log).
    os.environ["HOME"] = str(given.folder)
    _warm_up()
    serve(events, ClientWorker(functools.partial(_consumer, events), _producer).handlers)
    os._exit(0)


def _warm_up() -> None:
    """Load what takes most of a first client's start.

    Raises:
        CommandFailed: its packages aren't there.
    """
    try:
        import rocketmq  # noqa: F401
    except ImportError as error:
        raise CommandFailed(f"rocketmq-python-client can't be imported: {error}") from error


if __name__ == "__main__":
    main()
