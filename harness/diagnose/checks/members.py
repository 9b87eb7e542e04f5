"""Members that should be alike, and aren't; and members that aren't who they seem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rocketchaos.harness.diagnose.fate import Lost, stranded
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import Member
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import joined, queues_text

_NOT_SUPPORTED = 3
"""REQUEST_CODE_NOT_SUPPORTED: a proxy's answer to 307 (RemotingProtocolServer of 5.5.0)."""
_OF_PROCESS = re.compile(r"(?P<process>[^@]+@\d+)#(?P<instance>.+)")
"""`ip@pid#nanoTime`: of Java clients without an instance name."""


def same_id(view: GroupView) -> Iterator[Result]:
    """One client id at several addresses."""
    for broker, stored in view.stored.items():
        addresses: dict[str, list[str]] = {}
        for connection in stored.connections:
            addresses.setdefault(connection.client_id, []).append(connection.address)
        for client_id, found in addresses.items():
            if len(found) < 2:
                continue
            # A member that connects again from its host leaves the old connection for a moment.
            hosts = {address.rpartition(":")[0] for address in found}
            waits, nobodys = _nobodys(view)
            yield Found(
                f"{client_id} is connected to {broker} from {joined(sorted(found))}{nobodys}",
                (Evidence(stored.exchange, f"{client_id} at {joined(sorted(found))}"),),
                settled=len(hosts) > 1 or _was_so(view, broker, client_id, found),
                messages=waits,
                key=client_id,
            )
            break  # the other brokers know the same


def _nobodys(view: GroupView) -> tuple[tuple[Lost, ...], str]:
    """What waits where one id counts as several members, and the queues for which it does, in words."""
    waits: list[Lost] = []
    told = []
    for topic in view.topics:
        owners = view.owners(topic)
        missing = [queue for queue in view.queues(topic) if queue not in owners]
        if missing and view.own(topic) and not view.silent:
            waits += stranded(view, topic, missing)
            told.append(f"{queues_text(missing)} of {topic}")
    return tuple(waits), f"; nobody has {joined(told)}" if told else ""


def _was_so(view: GroupView, broker: str, client_id: str, addresses: list[str]) -> bool:
    if view.before is None or broker not in view.before.stored:
        return False
    known = view.before.stored[broker].connections
    return {connection.address for connection in known if connection.client_id == client_id} == set(addresses)


def one_process(view: GroupView) -> Iterator[Result]:
    """Two listeners of one application in one group."""
    processes: dict[str, list[str]] = {}
    for client_id in view.members:
        if found := _OF_PROCESS.fullmatch(client_id):
            processes.setdefault(found["process"], []).append(client_id)
    for process, ids in processes.items():
        if len(ids) > 1:
            yield Found(
                f"{joined(ids)} are listeners of one process, {process}",
                tuple(Evidence(view.members[item].exchange, f"{item} is a member") for item in ids),
            )


def _differ(what: str, value: Callable[[Member], str]) -> Callable[[GroupView], Iterator[Result]]:
    """A check that members agree in one thing; an empty value is left out."""

    def different(view: GroupView) -> Iterator[Result]:
        values: dict[str, list[str]] = {}
        for member in view.members.values():
            if shown := value(member):
                values.setdefault(shown, []).append(member.client_id)
        quiet = [member for member in view.silent if not value(member)]
        if len(values) > 1:
            camps = "; ".join(f"{joined(sorted(ids))}: {text}" for text, ids in sorted(values.items()))
            yield Found(
                f"{what}: {camps}",
                tuple(
                    Evidence(view.members[item].exchange, f"{item}: {text}")
                    for text, ids in values.items()
                    for item in ids
                ),
            )
        elif quiet and len(view.members) > 1:
            yield _no_answer(quiet)

    return different


def _no_answer(quiet: Sequence[Member]) -> Unknown:
    names = joined([member.client_id for member in quiet])
    return Unknown(
        f"{names} {'does' if len(quiet) == 1 else 'do'} not answer: {_why(quiet[0])}",
        tuple(Evidence(member.exchange, _why(member)) for member in quiet),
        by_silence=True,
    )


def _why(silent: Member) -> str:
    if silent.exchange.answer_code == _NOT_SUPPORTED:
        return f"{silent.exchange.address} is a proxy, which passes 307 on to nobody"
    return silent.exchange.why_not or "its answer is no JSON"


def _own(key: str) -> Callable[[Member], str]:
    return lambda member: member.properties.get(key, "")


def silent(view: GroupView) -> Iterator[Result]:
    """Members that don't tell of themselves: most checks say nothing of them."""
    for member in view.silent:
        yield Unknown(
            f"{member.client_id} doesn't report about itself: {_why(member)}",
            (Evidence(member.exchange, _why(member)),),
            look_again=member.exchange.answer_code not in (None, _NOT_SUPPORTED) and len(view.looks) < 3,
        )
    for stored in view.not_told:
        yield Unknown(
            f"{stored.exchange.address} didn't say who is online: {stored.exchange.why_not}",
            (Evidence(stored.exchange, stored.exchange.why_not),),
        )


def not_everywhere(view: GroupView) -> Iterator[Result]:
    """Members that some brokers of their topics know, and others don't."""
    holders = {broker for topic in view.topics for broker in view.on_brokers(topic)} & set(view.stored)
    for client_id in view.members:
        knowing = {
            broker
            for broker in holders
            if any(connection.client_id == client_id for connection in view.stored[broker].connections)
        }
        if missing := sorted(holders - knowing):
            yield Found(
                f"{client_id} is connected to {joined(sorted(knowing)) or 'no broker of its topics'}, "
                f"and not to {joined(missing)}",
                tuple(
                    Evidence(view.stored[holder].exchange, f"{holder} knows {client_id}: {holder in knowing}")
                    for holder in sorted(holders)
                ),
                settled=False,
                key=client_id,
            )


def nobody(view: GroupView) -> Iterator[Result]:
    """A group that was asked for, but has no known member."""
    if view.named and not view.online:
        asked = view.now.stored.get(view.group, {})
        known = any(view.group in groups for groups in view.now.groups.values())
        yield Unknown(
            f"no broker that was asked knows a member{'' if known else ', nor the group'}: either nobody is "
            "there, or its members are behind a proxy that is a server of its own (`--proxy HOST:PORT` asks it)",
            tuple(
                Evidence(item.exchange, item.exchange.why_not or "no connection") for item in asked.values()
            ),
        )


CHECKS = (
    Check(
        "RC0201",
        "one client id at several addresses",
        Level.ERROR,
        "every client id is at one address",
        "Members share the queues out by client ids: both processes take the queues of the first, and their "
        "messages come twice; what is in the share of the second waits.",
        (
            "Give each process an instance name of its own (`setInstanceName`, `rocketmq.client.name`): "
            "containers with one address and pid 1 have one id.",
            "Restart them one after the other.",
        ),
        ("D13", "G13"),
        of_group=same_id,
    ),
    Check(
        "RC0202",
        "two listeners of one process in one group",
        Level.WARNING,
        "no process has two members in the group",
        "They count as two members, and share the queues between them: where they subscribe to different things, "
        "each loses what is in the other's queues.",
        (
            "Give each listener a group of its own, or let one listener subscribe to everything.",
            "With Spring: `consumerGroup` of each `@RocketMQMessageListener` must be another one.",
        ),
        ("A01", "D05", "D13"),
        of_group=one_process,
    ),
    Check(
        "RC0203",
        "clients of different languages in one group",
        Level.WARNING,
        "all members are of one language",
        "Clients of other languages count hashes, versions and shares in their own way.",
        ("Keep to one client in a group, or give each language a group of its own.",),
        ("H02", "H03", "H05"),
        of_group=_differ("languages", lambda member: member.language),
    ),
    Check(
        "RC0204",
        "clients of different versions in one group",
        Level.INFO,
        "all members are of one version",
        "None by itself; a rolling upgrade looks so.",
        ("Finish the upgrade, if that is what it is.",),
        (),
        of_group=_differ("versions", _own("PROP_CLIENT_VERSION")),
    ),
    Check(
        "RC0205",
        "members begin at different places",
        Level.WARNING,
        "all members begin at the same place",
        "Who gets a queue without an offset decides whether its old messages are consumed, or skipped.",
        ("Give all members the same consumeFromWhere; it counts only where no offset is stored.",),
        ("A07", "G14"),
        of_group=_differ("consumeFromWhere", _own("consumeFromWhere")),
    ),
    Check(
        "RC0206",
        "members of different models in one group",
        Level.ERROR,
        "all members are of one model",
        "A broadcasting member consumes all queues besides the one that owns them, and its heartbeats make the "
        "broker treat the whole group so.",
        ("Give broadcasting members a group of their own.", "Restart the clustering members after that."),
        ("A07", "A08", "F23"),
        of_group=_differ("models", _own("messageModel")),
    ),
    Check(
        "RC0207",
        "members of different strategies in one group",
        Level.ERROR,
        "all members share queues out by one strategy",
        "Each member takes its queues by its own strategy: some queues belong to two members, which both get "
        "their messages, others to nobody, where messages wait.",
        ("Give all members the same AllocateMessageQueueStrategy.", "Deploy it to all of them at a time."),
        ("D12",),
        of_group=_differ("strategies", lambda member: member.strategy),
    ),
    Check(
        "RC0208",
        "a member or a broker that doesn't tell",
        Level.WARNING,
        "every member answered for itself",
        "Whether it consumes is unknown.",
        ("See whether its process hangs, or its network is cut.",),
        ("A17",),
        of_group=silent,
    ),
    Check(
        "RC0209",
        "a member that some brokers don't know",
        Level.WARNING,
        "every broker of the topics knows every member",
        "A broker that doesn't know a member tells others another list of members, so that queues are shared out "
        "differently; a connection that nobody is behind keeps its queues for 120 s.",
        ("See whether the member reaches that broker's address.", "Otherwise restart it."),
        ("A10", "A17", "D11"),
        of_group=not_everywhere,
    ),
    Check(
        "RC0210",
        "a group of which no member is known",
        Level.WARNING,
        "",
        "If nobody is there, they wait.",
        ("Correct the group's name, start its members, or ask the proxy.",),
        ("A15", "H11"),
        of_group=nobody,
    ),
)
