"""The `grpc-java` worker: rocketmq-client-java (5.0.8 to 5.2.0) in this process's own JVM.

It talks gRPC with the proxy of RocketMQ 5. The commands are those of `harness.workers.protocol`.
"""

from rocketchaos.harness.workers import jpype_without_numpy  # noqa: F401  (before jpype)

# isort: split

import functools

from rocketchaos.harness.workers.child import jvm
from rocketchaos.harness.workers.child.client_worker import ClientWorker
from rocketchaos.harness.workers.child.grpc_java_client import load_classes
from rocketchaos.harness.workers.child.grpc_java_consumer import new_consumer
from rocketchaos.harness.workers.child.grpc_java_producer import GrpcJavaProducer
from rocketchaos.harness.workers.protocol import EventPipe


def main() -> None:
    """Start the JVM and serve."""
    given = jvm.arguments()
    jvm.start(given)
    load_classes()
    events = EventPipe(given.events_fd)
    worker = ClientWorker(functools.partial(new_consumer, events), GrpcJavaProducer)
    jvm.run(given, events, worker.handlers, worker.shut_down)


if __name__ == "__main__":
    main()
