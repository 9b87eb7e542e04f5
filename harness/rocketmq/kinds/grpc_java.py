"""rocketmq-client-java, over gRPC."""

from dataclasses import replace

from rocketchaos.harness.rocketmq.kinds.grpc import GRPC

GRPC_JAVA = replace(
    GRPC,
    name="grpc-java",
    title="rocketmq-client-java, over gRPC",
    worker="grpc-java",
    version="5.2.0",
    jvm=True,
    older={"5.0.8": {}, "5.1.0": {}},
)
