"""Slaves: missing ones, and those that don't copy what their master stores."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import Broker, Copies
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import ClusterView
from rocketchaos.harness.diagnose.words import counted, joined

_REPLICAS = "totalReplicas", "inSyncReplicas", "minInSyncReplicas"
"""How many brokers have each message, the master included (MessageStoreConfig, 5.x; default 1)."""


def missing(view: ClusterView) -> Iterator[Result]:
    """Masters without a slave that they had a moment ago, or that their settings ask for."""
    masters = {name: broker for name, broker in view.now.brokers.items() if 0 in broker.addresses}
    if not all(item.exchange.succeeded for item in view.now.registered.values()):
        return  # the one that doesn't answer may know it
    registered = tuple(
        Evidence(item.exchange, "; ".join(f"{name}: {dict(known)}" for name, known in item.brokers.items()))
        for item in view.now.registered.values()
    )
    for name, broker in masters.items():
        asking = _asking(broker)
        if gone := _gone(view, broker):
            yield Found(
                f"{name} has lost its slave: no name server knows {joined([text for text, _ in gone])} now",
                (*registered, *(evidence for _, evidence in gone)),
                settled=False,
                key=name,
            )
        elif asking:
            yield Found(
                f"{name} has {counted(len(broker.slaves), 'registered slave')}, and {joined(asking)} "
                f"{'asks' if len(asking) == 1 else 'ask'} for more; whether one was stopped or never "
                "there, no server says",
                (*registered, Evidence(broker.asked[0], ", ".join(asking))),
                settled=False,
                key=name,
            )
        elif not broker.slaves and (others := _with_slaves(view, broker)):
            yield Found(
                f"{name} has no registered slave, and {joined(others)} {'has' if len(others) == 1 else 'have'} "
                "one; whether it was stopped or never there, no server says",
                registered,
                level=Level.INFO,
            )


def _asking(broker: Broker) -> list[str]:
    """The settings by which a master has too few slaves."""
    if broker.config.get("enableDLegerCommitLog") == "true":  # its leader calls itself SYNC_MASTER
        return []
    has = 1 + len(broker.slaves)
    found = [f"{key}={broker.config[key]}" for key in _REPLICAS if whole(broker.config.get(key)) > has]
    # So does the master in controller mode, whoever its slaves are.
    alone = has == 1 and broker.config.get("enableControllerMode") != "true"
    if alone and broker.config.get("brokerRole") == "SYNC_MASTER":
        found.insert(0, "brokerRole=SYNC_MASTER")
    return found


def _gone(view: ClusterView, broker: Broker) -> list[tuple[str, Evidence]]:
    """The slaves that an earlier look saw: what they are, and the answer that showed them."""
    found: dict[int, tuple[str, Evidence]] = {}
    for look in view.looks[:-1]:
        for address, item in look.registered.items():
            for number, slave in item.brokers.get(broker.name, {}).items():
                if number and number not in broker.addresses:
                    text = f"{broker.name} {number} at {slave}"
                    found[number] = text, Evidence(item.exchange, f"{address} knew {text}")
    return [found[number] for number in sorted(found)]


def _with_slaves(view: ClusterView, broker: Broker) -> list[str]:
    return sorted(
        name
        for name, other in view.now.brokers.items()
        if other.cluster == broker.cluster and other.slaves and 0 in other.addresses
    )


def behind(view: ClusterView) -> Iterator[Result]:
    """Registered slaves that lack what their master stored a look ago, or have no connection to it."""
    for name, copies in view.now.copies.items():
        if not copies.master.succeeded:
            continue  # RC0803 tells
        broker = view.now.brokers[name]
        alone = _unconnected(name, broker, copies)
        if alone is not None:
            yield alone
        for number, answer in copies.slaves.items():
            slave = f"{name} {number} at {broker.slaves[number]}"
            if not answer.succeeded:
                if alone is None:
                    yield Unknown(
                        f"the slave {slave} doesn't report how much it has copied: {answer.why_not}",
                        (Evidence(answer, answer.why_not),),
                    )
            elif (lag := _lag(view, name, answer)) and alone is None:
                yield Found(
                    f"the slave {slave} lacks {lag} B of what its master has stored",
                    (_reached(copies.master), _reached(answer)),
                    settled=False,
                    key=f"{name} {number}",
                )


def _unconnected(name: str, broker: Broker, copies: Copies) -> Found | None:
    """Registered slaves without a connection to their master, by what it says."""
    if copies.connected is None or not copies.connected.succeeded:
        return None
    connections = read.mapping(copies.connected.document).get("haConnectionInfo")
    if not isinstance(connections, list) or len(connections) >= len(broker.slaves):
        return None
    slaves = [f"{name} {number} at {address}" for number, address in broker.slaves.items()]
    return Found(
        f"{joined(slaves)} {'is a registered slave' if len(slaves) == 1 else 'are registered slaves'}, and the "
        f"master has {counted(len(connections), 'connection')} to copy by",
        (Evidence(copies.connected, f"haConnectionInfo: {len(connections)}"),),
        settled=False,
        key=f"{name} unconnected",
    )


def _lag(view: ClusterView, name: str, slave: Exchange) -> int:
    """How much of what the master stored until the look before a slave lacks, in bytes; 0: nothing."""
    before = [look.copies[name] for look in view.looks if name in look.copies][-2:][0]
    return max(0, _end(before.master) - _end(slave))


def _end(exchange: Exchange) -> int:
    table = read.mapping(read.mapping(exchange.document).get("table"))
    return whole(table.get("commitLogMaxOffset"))


def _reached(exchange: Exchange) -> Evidence:
    return Evidence(exchange, f"commitLogMaxOffset {_end(exchange)}")


_ALONE = "If the master fails, messages that no slave has can't be read until it is back."

CHECKS = (
    Check(
        "RC0809",
        "a broker lacks a slave",
        Level.WARNING,
        "no slave is missing that settings ask for, or that was there when this diagnosis began",
        f"{_ALONE} Producers of a SYNC_MASTER of 4.9 get SLAVE_NOT_AVAILABLE. From 5.0 on they get "
        "FLUSH_SLAVE_TIMEOUT if inSyncReplicas is above the number of replicas. The message is stored either way: "
        "an application that sends it again makes a duplicate.",
        (
            "Start the slave. A name server forgets a stopped slave at once: where no setting asks for one, only "
            "a `--watch` that saw it leave can tell.",
            "If there should be none, set brokerRole to ASYNC_MASTER, and the number of replicas to 1.",
        ),
        caveat="any other stopped slave looks like none",
        of_cluster=missing,
    ),
    Check(
        "RC0810",
        "a slave doesn't keep up with its master",
        Level.WARNING,
        "every registered slave keeps up with its master",
        f"{_ALONE} A SYNC_MASTER answers sends with FLUSH_SLAVE_TIMEOUT meanwhile. With slaveReadEnable, members "
        "that are far behind read from the slave, and get its messages only as far as it has copied.",
        (
            "Check that the slave runs and reaches the master's haListenPort.",
            "If it copies more slowly than the master stores, it needs a faster disk or network.",
        ),
        of_cluster=behind,
    ),
)
