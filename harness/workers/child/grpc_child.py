"""The `grpc` worker: rocketmq-python-client (5.1.2), which talks gRPC with the proxy of RocketMQ 5.

The commands are those of `harness.workers.protocol`.
"""

import argparse
import functools
import os
import sys
from pathlib import Path

from rocketchaos.harness.workers.child.client_worker import ClientWorker
from rocketchaos.harness.workers.protocol import EventPipe, serve


def main() -> None:
    """Load the client and serve, until standard input closes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events-fd", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    events = EventPipe(given.events_fd)
    # When it is imported the client opens its log in the user's home, logs/rocketmq_python (rocketmq.v5.log).
    os.environ["HOME"] = str(given.folder)
    try:
        from rocketchaos.harness.workers.child.grpc_consumer import new_consumer
        from rocketchaos.harness.workers.child.grpc_producer import GrpcProducer
    except ImportError as error:
        sys.exit(f"no gRPC client: {error}")
    worker = ClientWorker(functools.partial(new_consumer, events), GrpcProducer)
    serve(events, worker.handlers, shut_down=worker.shut_down)
    # Its threads would hold up an orderly end.
    os._exit(0)


if __name__ == "__main__":
    main()
