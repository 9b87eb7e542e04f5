"""A canary of gRPC: a client that the proxy serves, before any that is looked at."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from rocketchaos.harness.clients.admin import Admin
from rocketchaos.harness.cluster.base import Node
from rocketchaos.harness.cluster.groups import create_group
from rocketchaos.harness.cluster.topics import create_routed_topic
from rocketchaos.harness.core.errors import EnvironmentNotReady, RequestFailed
from rocketchaos.harness.core.names import new_token
from rocketchaos.harness.language.topic import evenly
from rocketchaos.harness.workers.worker import Worker

READY_LIMIT_S = 30.0
SERVE_LIMIT_S = 60.0
_TRY_AGAIN_S = 0.2


def prove_grpc(
    worker: Worker,
    admin: Admin,
    endpoint: str,
    brokers: Sequence[Node],
    access: Mapping[str, Any] | None = None,
) -> None:
    """Start and stop a consumer with its own group and topic, until the proxy serves it.

    A proxy answers long before it is warm: the client waits 3 s for a request and 10 s for its first settings,
    which can't be set, and on a busy machine the first client of a new proxy waited in vain.

    Args:
        worker: of the kind `grpc`.
        admin: of the cluster.
        endpoint: the proxy's, `host:port`.
        brokers: the masters.
        access: the keys of the account with which it signs its requests.

    Raises:
        EnvironmentNotReady: it served none within 60 s, or the worker has died.
    """
    canary = f"rocketchaos-canary-{new_token()}"
    create_routed_topic(admin, canary, evenly(1), {node.name: node.address for node in brokers})
    create_group(admin, canary, [node.address for node in brokers])
    names = (f"canary-{number}" for number in itertools.count())
    worker.wait_ready(READY_LIMIT_S)

    def serve() -> None:
        name = next(names)
        worker.request(
            "start-consumer",
            READY_LIMIT_S,
            name=name,
            group=canary,
            endpoint=endpoint,
            subscribe={canary: "*"},
            access=access,
        )
        worker.request("stop-consumer", READY_LIMIT_S, name=name)

    retrying = Retrying(
        retry=retry_if_exception_type(RequestFailed),
        wait=wait_fixed(_TRY_AGAIN_S),
        stop=stop_after_delay(SERVE_LIMIT_S),
        reraise=True,
    )
    try:
        retrying(serve)
    except RequestFailed as last:
        raise EnvironmentNotReady(
            f"the proxy at {endpoint} serves no gRPC client within {SERVE_LIMIT_S:g} s; last seen: {last.message}"
        ) from last
