"""Name servers and brokers that should agree."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from rocketchaos.harness.diagnose.checks.configuration import route_text
from rocketchaos.harness.diagnose.clocks import APART_S, apart_s
from rocketchaos.harness.diagnose.exchange import Exchange
from rocketchaos.harness.diagnose.finding import MOST_ROUTED, Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import Registered, Route
from rocketchaos.harness.diagnose.view import READ, ClusterView
from rocketchaos.harness.diagnose.words import joined

_DISK_WARNING, _DISK_ERROR = 0.75, 0.90
"""From 75 % on a broker deletes expired files at once, from 90 % on it refuses messages (DefaultMessageStore)."""
_NO_PERMISSION = 16
TAKES_TURNS_S = 65.0
"""Brokers register every 30 s: of two processes with one name, each has been seen after two rounds."""
_WRITTEN_OTHERWISE = (
    "Members see the same queues. Producers don't: by the name server that they ask, they send to a broker or "
    "leave it out."
)


def name_servers(view: ClusterView) -> Iterator[Result]:
    """Whether the name servers know the same brokers and queues."""
    known = {address: entry for address, entry in view.now.registered.items() if entry.exchange.succeeded}
    for address, item in view.now.registered.items():
        if not item.exchange.succeeded:
            yield Unknown(
                f"{address} doesn't answer: {item.exchange.why_not}",
                (Evidence(item.exchange, item.exchange.why_not),),
            )
    if len({repr(sorted(_ids(entry).items())) for entry in known.values()}) > 1:
        yield Found(
            "; ".join(
                f"{address} knows {joined(sorted(entry.brokers)) or 'no broker'}"
                for address, entry in known.items()
            ),
            tuple(Evidence(entry.exchange, _registered_text(entry)) for entry in known.values()),
            settled=len(view.looks) > 1,
            key="brokers",
        )
    # A broker that one of them doesn't know is in none of its routes.
    everywhere = set.intersection(*(set(entry.brokers) for entry in known.values())) if known else set()
    alike: dict[tuple[str, ...], list[str]] = {}
    for topic, routes in view.now.routes.items():
        if names := _told_otherwise(routes, everywhere):
            # The next look is at the topics that are named.
            alike.setdefault(names if len(view.looks) > 1 else (topic,), []).append(topic)
    for names, topics in alike.items():
        yield _routes_differ(view, names, topics, everywhere)
    yield from _not_asked(view)


def _told_otherwise(routes: Mapping[str, Route], everywhere: Collection[str]) -> tuple[str, ...]:
    """The brokers that all name servers know, and of whose queues of a topic they say different things; last,
    whether members see different queues."""
    found = [route for route in routes.values() if not route.unknown]
    names = [name for name in sorted(everywhere) if len({route.brokers.get(name) for route in found}) > 1]
    if not names:
        return ()
    return (*names, "read" if len({_readable(route, everywhere) for route in found}) > 1 else "written")


def _routes_differ(
    view: ClusterView, names: tuple[str, ...], topics: Sequence[str], everywhere: Collection[str]
) -> Found:
    """One finding for all topics whose routes differ by the same brokers."""
    first, *others = topics
    found = {address: route for address, route in view.now.routes[first].items() if not route.unknown}
    of_first = "; ".join(f"{address} has {route_text(entry)}" for address, entry in found.items())
    return Found(
        f"the routes of {joined(topics)} differ in {joined(names[:-1])}; of {first} {of_first}"
        if others
        else of_first,
        tuple(
            Evidence(route.exchange, route_text(route))
            for topic in topics[:MOST_ROUTED]
            for route in view.now.routes[topic].values()
            if not route.unknown
        ),
        "" if others else first,
        effect=""
        if len({_readable(route, everywhere) for route in found.values()}) > 1
        else _WRITTEN_OTHERWISE,
        settled=len(view.looks) > 1,
        key="route" if len(view.looks) == 1 else f"route {names}",
    )


def _readable(route: Route, brokers: Collection[str]) -> tuple[tuple[str, int], ...]:
    """How many queues members read on each of these brokers, by one name server."""
    return tuple(
        (name, item.read_queues if item.permission & READ else 0)
        for name, item in sorted(route.brokers.items())
        if name in brokers
    )


def _ids(entry: Registered) -> dict[str, dict[int, str]]:
    return {name: dict(ids) for name, ids in entry.brokers.items()}


def _registered_text(entry: Registered) -> str:
    found = [
        f"{name} {number} at {address}"
        for name, ids in sorted(entry.brokers.items())
        for number, address in sorted(ids.items())
    ]
    return ", ".join(found) or "no broker"


def _not_asked(view: ClusterView) -> Iterator[Found]:
    """Name servers that brokers list and the user didn't give; an address may be another name of a given one."""
    asked = set(view.now.registered)
    by_others: dict[tuple[str, ...], list[str]] = {}
    for name, broker in view.now.brokers.items():
        listed = {item.strip() for item in broker.config.get("namesrvAddr", "").split(";")} - {""}
        if len(listed) > len(asked):
            by_others.setdefault(tuple(sorted(listed - asked)), []).append(name)
    for others, names in sorted(by_others.items()):
        listing = (
            f"{joined(names)} {'registers' if len(names) == 1 else 'register'} with {joined(others)} as well"
        )
        yield Found(
            f"{listing}, which this diagnosis didn't ask; to compare them: "
            f"`--namesrv '{';'.join([*sorted(asked), *others])}'`",
            tuple(
                Evidence(item, "namesrvAddr") for name in names for item in view.now.brokers[name].asked[:1]
            ),
            level=Level.INFO,
            effect="Clients of those name servers may see other brokers and queues.",
        )


def names_twice(view: ClusterView) -> Iterator[Result]:
    """A broker's name in two clusters, or two brokers at one address."""
    at: dict[str, list[str]] = {}
    for name, broker in view.now.brokers.items():
        for number, address in broker.addresses.items():
            at.setdefault(address, []).append(f"{name} {number}")
    evidence = tuple(
        Evidence(item.exchange, str(dict(item.brokers))) for item in view.now.registered.values()
    )
    for address, names in at.items():
        if len(names) > 1:
            yield Found(f"{address} is registered as {joined(names)}", evidence)
    for name in view.now.brokers:
        said = {
            (item.clusters.get(name, ""), address)
            for item in view.now.registered.values()
            if (address := item.brokers.get(name, {}).get(0, ""))
        }
        if len(said) > 1:
            yield Found(
                f"{name} is {joined(sorted(f'{address} in {cluster}' for cluster, address in said))}",
                evidence,
            )
    yield from _takes_turns(view)


def _takes_turns(view: ClusterView) -> Iterator[Result]:
    """Two processes with one broker name and id: each registration replaces the other's address."""
    seen: dict[tuple[str, str, int], list[tuple[str, int, Evidence]]] = {}
    for look in view.looks:
        for name_server, item in look.registered.items():
            for name, by_id in item.brokers.items():
                for number, address in by_id.items():
                    known = seen.setdefault((name_server, name, number), [])
                    if not known or known[-1][0] != address:
                        evidence = Evidence(item.exchange, f"{name} {number}: {address}")
                        known.append((address, look.at_ms, evidence))
    for (name_server, name, number), known in seen.items():
        addresses = [address for address, _, _ in known]
        proof = tuple(evidence for _, _, evidence in known)
        since_ms = known[-1][1]
        if len(addresses) > len(set(addresses)):  # one that came back; a broker that moves doesn't
            yield Found(
                f"broker id {number} of {name} is {joined(sorted(set(addresses)))} in turn at {name_server}",
                proof,
                key=f"{name} {number}",
            )
        elif len(addresses) > 1 and (view.now.at_ms - since_ms) / 1000 < TAKES_TURNS_S:
            yield Unknown(
                f"broker id {number} of {name} was {addresses[-2]}, and is {addresses[-1]} now at {name_server}: "
                "it has moved, or two processes have its name",
                proof,
                look_again=True,
                for_s=(since_ms - view.looks[0].at_ms) / 1000 + TAKES_TURNS_S,
            )


_SLOW_FOR_S = 5.0
"""A broker that answers some questions, and not all in time, is asked again for so long."""


def brokers(view: ClusterView) -> Iterator[Result]:
    """Brokers that don't answer."""
    for name, broker in view.now.brokers.items():
        asked = [item for item in (*broker.asked, view.now.offset_tables.get(name)) if item]
        silent = [item for item in asked if not item.succeeded]
        if silent:
            # On a busy machine a broker takes more than 3 s for its runtime info, and answers all else.
            slow = len(silent) < len(asked) and all(item.answer_code is None for item in silent)
            yield Unknown(
                f"{name}: {silent[0].why_not}{_needs_a_key(silent)}",
                tuple(Evidence(item, item.why_not) for item in silent),
                look_again=slow,
                for_s=_SLOW_FOR_S,
            )


def _needs_a_key(silent: Sequence[Exchange]) -> str:
    """That access control refuses the questions, as a phrase: ACL 1 answers 1 or 16, ACL 2 16 (NO_PERMISSION)."""
    refused = any(item.answer_code == _NO_PERMISSION or "AclException" in item.remark for item in silent)
    return "; give an access key that may read: `--access-key-file`" if refused else ""


def disks(view: ClusterView) -> Iterator[Result]:
    """Brokers whose disk is filling up."""
    for name, broker in view.now.brokers.items():
        try:
            ratio = max(
                float(broker.runtime.get(key, "0") or 0)
                for key in ("commitLogDiskRatio", "consumeQueueDiskRatio")
            )
        except ValueError:
            continue
        if ratio >= _DISK_WARNING:
            yield Found(
                f"{name}'s disk is {100 * ratio:.0f} % full",
                tuple(Evidence(item, f"commitLogDiskRatio {ratio}") for item in broker.asked[1:]),
                level=Level.ERROR if ratio >= _DISK_ERROR else None,
            )


def now_ms(view: ClusterView, broker: str, answer: Exchange) -> float:
    """When a broker gave an answer, by its own clock as far as that is known."""
    return answer.at_ms + 1000 * (apart_s(view.now.brokers[broker]) or 0)


def clocks(view: ClusterView) -> Iterator[Result]:
    """Brokers whose clock differs from the others'."""
    known = {name: apart_s(broker) for name, broker in view.now.brokers.items()}
    apart = {name: seconds for name, seconds in known.items() if seconds is not None}
    if not apart:
        return
    middle = sorted(apart.values())[len(apart) // 2]
    for name, seconds_apart in apart.items():
        off = seconds_apart - middle if len(apart) > 2 else seconds_apart
        if abs(off) > APART_S:
            whom = "the other brokers'" if len(apart) > 2 else "this machine's"
            yield Found(
                f"{name}'s clock is {abs(off):.0f} s {'ahead of' if off > 0 else 'behind'} {whom}",
                (Evidence(view.now.brokers[name].asked[1], "bootTimestamp and runtime"),),
            )


def versions(view: ClusterView) -> Iterator[Result]:
    """Brokers of different versions."""
    found: dict[str, list[str]] = {}
    for name, broker in view.now.brokers.items():
        if version := broker.runtime.get("brokerVersionDesc"):
            found.setdefault(version, []).append(name)
    if len(found) > 1:
        yield Found(
            "; ".join(f"{joined(names)}: {version}" for version, names in sorted(found.items())),
            tuple(Evidence(item, "") for broker in view.now.brokers.values() for item in broker.asked[1:]),
        )


CHECKS = (
    Check(
        "RC0801",
        "name servers know different brokers or queues",
        Level.WARNING,
        "all name servers know the same brokers and queues",
        "Clients see different brokers and queues, by the name server that they ask. So some queues have no "
        "owner, and others have two.",
        (
            "Check that every broker lists all name servers (namesrvAddr) and reaches them.",
            "If permissions differ, `mqadmin wipeWritePerm` closed a broker at one name server alone: open it "
            "again at all of them, `mqadmin addWritePerm`.",
        ),
        ("A11",),
        of_cluster=name_servers,
    ),
    Check(
        "RC0802",
        "one broker name or address is used twice",
        Level.ERROR,
        "every broker has its own name and address",
        "Messages, offsets and locks go sometimes to one of the two brokers, sometimes to the other.",
        ("Give each broker a name that is unique in all clusters of these name servers.",),
        caveat="only `--watch 2m` sees two processes that take turns under one name",
        of_cluster=names_twice,
    ),
    Check(
        "RC0803",
        "a broker doesn't answer",
        Level.WARNING,
        "every broker answers",
        "Unknown: this diagnosis doesn't see the queues and offsets of that broker.",
        (
            "If its address can't be reached from this machine, say with `--map` where it can be.",
            "Otherwise check whether the broker runs.",
        ),
        ("C14",),
        of_cluster=brokers,
    ),
    Check(
        "RC0804",
        "a broker's disk is filling up",
        Level.WARNING,
        "no broker's disk is filling up",
        "From 75 % on a broker deletes expired messages at any hour. From 85 % on it deletes the oldest ones, "
        "read or not. From 90 % on it refuses new ones.",
        ("Free disk space, or lower fileReservedTime.",),
        by_brokers=True,
        of_cluster=disks,
    ),
    Check(
        "RC0805",
        "a broker's clock differs",
        Level.WARNING,
        "the brokers' clocks agree",
        "The broker uses its clock for delayed messages, for retention, and to find offsets by time.",
        ("Set the clock of that broker's host.",),
        by_brokers=True,
        of_cluster=clocks,
    ),
    Check(
        "RC0806",
        "brokers have different versions",
        Level.INFO,
        "all brokers have the same version",
        "None by itself. During a rolling upgrade this is normal.",
        ("If an upgrade is under way, finish it.",),
        by_brokers=True,
        of_cluster=versions,
    ),
)
