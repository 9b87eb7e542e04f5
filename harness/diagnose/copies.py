"""How far slaves have copied their master's commit log and its groups' offsets: what both say of themselves.

A master of 5.x also tells which slaves are connected to it; one of 4.9.x doesn't (4.9.4, 5.5.0).
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from rocketchaos.harness.diagnose import requests
from rocketchaos.harness.diagnose.exchange import Exchange, Keep
from rocketchaos.harness.diagnose.model import Copies, Look

_Ask = Callable[..., Awaitable[Exchange]]


async def add_copies(look: Look, runtime: _Ask, ask: _Ask, keep_offsets: Keep) -> None:
    """Ask every registered slave that has a master, and the master before it.

    Args:
        look: gets the answers.
        runtime: asks the broker at an address for its state (28).
        ask: asks an address anything else.
        keep_offsets: what is kept of a broker's offsets.
    """
    copied = [name for name, broker in look.brokers.items() if 0 in broker.addresses and broker.slaves]
    await asyncio.gather(*(_add(look, name, runtime, ask, keep_offsets) for name in copied))


async def _add(look: Look, name: str, runtime: _Ask, ask: _Ask, keep_offsets: Keep) -> None:
    broker = look.brokers[name]
    known = [
        item
        for item in broker.asked
        if item.look == look.number and item.code == requests.GET_BROKER_RUNTIME_INFO
    ]
    # The master first: a slave that has less when it is asked later has not copied that yet.
    master = known[0] if known else await runtime(look, broker.address)
    connected = partial(ask, look, broker.address, requests.GET_BROKER_HA_STATUS)
    slaves = broker.slaves.values()
    offsets = partial(ask, look, code=requests.GET_ALL_CONSUMER_OFFSET, keep=keep_offsets)
    states, known_offsets, status = await asyncio.gather(
        asyncio.gather(*(runtime(look, address) for address in slaves)),
        asyncio.gather(*(offsets(address=address) for address in slaves)),
        connected() if broker.is_of_5 else _nothing(),
    )
    look.copies[name] = Copies(
        master,
        dict(zip(broker.slaves, states, strict=True)),
        status,
        dict(zip(broker.slaves, known_offsets, strict=True)),
    )


async def _nothing() -> None:
    """A master of 4.9.x has no such answer."""
