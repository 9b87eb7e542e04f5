"""rocketmq-client-java, over gRPC."""

from dataclasses import replace

from rocketchaos.harness.rocketmq.client_traits import by_api
from rocketchaos.harness.rocketmq.kinds.grpc import GRPC

GRPC_JAVA = replace(
    GRPC,
    name="grpc-java",
    title="rocketmq-client-java, over gRPC",
    worker="grpc-java",
    apis=by_api(*GRPC.apis.values()),
    version="5.2.0",
    older={"5.0.8": {}, "5.1.0": {}},
)
