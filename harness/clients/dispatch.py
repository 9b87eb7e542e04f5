"""How far a broker is with putting stored messages into their queues."""

import json

from rocketchaos.harness.rocketmq import remoting


def undispatched_bytes(address: str) -> int:
    """How much of its commit log a broker has in no consume queue yet (DefaultMessageStore.dispatchBehindBytes).

    A broker answers a send when the message is in the commit log. ReputMessageService puts it into its queue
    afterwards, usually within a few ms, and only then a pull finds it.

    Raises:
        OSError: no connection, no answer within 3 s, or one without this figure.
    """
    answer = remoting.ask(address, remoting.GET_BROKER_RUNTIME_INFO)
    try:
        return int(json.loads(answer.body)["table"]["dispatchBehindBytes"])
    except (ValueError, KeyError, TypeError) as error:
        raise OSError(f"the broker at {address} doesn't tell dispatchBehindBytes: {answer.remark}") from error
