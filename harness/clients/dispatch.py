"""How far a broker is with putting stored messages into their queues."""

import json

from rocketchaos.harness.rocketmq import remoting


def undispatched_bytes(address: str) -> int | None:
    """How much of its commit log a broker has in no consume queue yet (DefaultMessageStore.dispatchBehindBytes).

    A broker answers a send when the message is in the commit log. ReputMessageService puts it into its queue
    afterwards, usually within a few ms, and only then a pull finds it.

    None: its answer lacks this figure. In the first second after its start a broker answers with an error
    (StoreStatsService; 4.9.4, 5.5.0).

    Raises:
        OSError: no connection, or no answer within 3 s.
    """
    answer = remoting.ask(address, remoting.GET_BROKER_RUNTIME_INFO)
    try:
        return int(json.loads(answer.body)["table"]["dispatchBehindBytes"])
    except (ValueError, KeyError, TypeError):
        return None
