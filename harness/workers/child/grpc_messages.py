"""What rocketmq-python-client knows of a message, and how it says what is refused."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rocketmq import ClientConfiguration, Credentials, FilterExpression
from rocketmq.grpc_protocol import FilterType
from rocketmq.v5.exception import ClientException

from rocketchaos.harness.workers.child.listener import Described
from rocketchaos.harness.workers.child.receipt_handle import place_of
from rocketchaos.harness.workers.protocol import CommandFailed


def configuration(endpoint: str, access: Mapping[str, Any] | None) -> Any:
    """How a client reaches the proxy at `host:port`, and signs its requests, by `{access_key, secret_key}`."""
    keys = ("", "") if access is None else (access["access_key"], access["secret_key"])
    return ClientConfiguration(endpoint, Credentials(*keys))


def filters(subscribe: Mapping[str, str | Mapping[str, str]]) -> dict[str, Any]:
    """By topic."""
    return {topic: filter_of(expression) for topic, expression in subscribe.items()}


def filter_of(expression: str | Mapping[str, str]) -> Any:
    """Tags, or `{sql}`."""
    if isinstance(expression, str):
        return FilterExpression(expression)
    return FilterExpression(expression["sql"], FilterType.SQL)


def described_message(message: Any) -> Described:
    """A message in JSON's types.

    Its place is read from its receipt handle, because the client leaves out what else the proxy says of it;
    where it is stored, and so `offset_msg_id`, is unknown. The proxy counts deliveries from 1. The client
    keeps keys in a set: the harness's own key is the body too.
    """
    broker, queue_id, offset = place_of(message.receipt_handle)
    key = message.body.decode(errors="replace")
    key = key if key in message.keys else next(iter(sorted(message.keys)), None)
    return {
        "topic": message.topic,
        "tag": message.tag,
        "key": key,
        "keys": sorted(item for item in message.keys if item != key),
        "msg_id": message.message_id,
        "offset_msg_id": None,
        "broker": broker,
        "queue_id": queue_id,
        "offset": offset,
        "reconsume_times": (message.delivery_attempt or 1) - 1,
    }


@contextmanager
def refusals() -> Iterator[None]:
    """What the client raises, as CommandFailed with the proxy's code, where it gave one.

    Where a start fails, the client's own tidying up may fail in turn: the first failure is the one that tells.
    """
    try:
        yield
    except CommandFailed:
        raise
    except Exception as error:
        first: BaseException = error
        while not isinstance(first, ClientException) and first.__context__ is not None:
            first = first.__context__
        code = getattr(first, "code", None)
        # That of gRPC's own errors is a function.
        status_code = int(code) if isinstance(code, int) else None
        raise CommandFailed(
            f"{type(first).__name__}: {first}", status_code, [type(first).__name__]
        ) from error
