"""Members that share an id or a process, don't answer, or are known to only some brokers."""

import re
from collections.abc import Iterator

from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.checks.configuration import lacks_group
from rocketchaos.harness.diagnose.fate import Lost, stranded
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import DEAD_LETTERS, HEARTBEATS, RETRY, SYNCER, Member
from rocketchaos.harness.diagnose.view import PROXY, ClusterView, GroupView
from rocketchaos.harness.diagnose.words import counted, joined, queues_text

_MOST_NAMED = 5
"""Groups that a sentence names."""
_OLD_CONNECTIONS = (
    "It is probably one process, and the others are its old connections, as after a broker that hung. The broker "
    "counts each as a member and drops it 120 s after its last heartbeat: until then queues have no owner, and "
    "their messages wait. Two processes with one id are possible if one of them doesn't reach the other brokers."
)
_NOT_SUPPORTED = 3
"""REQUEST_CODENOT_SUPPORTED: a proxy's answer to 307 (RemotingProtocolServer of 5.5.0)."""
_OF_PROCESS = re.compile(r"(?P<process>[^@]+@\d+)#(?P<instance>.+)")
"""`ip@pid#nanoTime`: of Java clients without an instance name."""


def same_id(view: GroupView) -> Iterator[Result]:
    """One client id at several addresses."""
    seen: set[str] = set()  # the other brokers know the same
    for broker, stored in view.stored.items():
        addresses: dict[str, list[str]] = {}
        for connection in stored.connections:
            addresses.setdefault(connection.client_id, []).append(connection.address)
        for client_id, found in addresses.items():
            if len(found) < 2 or client_id in seen:
                continue
            seen.add(client_id)
            # A member that connects again from its host leaves the old connection for a moment.
            hosts = {address.rpartition(":")[0] for address in found}
            waits, nobodys = _nobodys(view)
            once = _once_at(view, client_id) if len(hosts) == 1 else []
            old = (
                f"; {joined(once)} {'knows' if len(once) == 1 else 'know'} it from one address"
                if once
                else ""
            )
            yield Found(
                f"{client_id} is connected to {broker} from {joined(sorted(found))}{old}{nobodys}",
                (
                    Evidence(stored.exchange, f"{client_id} at {joined(sorted(found))}"),
                    *(Evidence(view.stored[name].exchange, f"{name} knows it once") for name in once),
                ),
                level=Level.WARNING if once else None,
                effect=_OLD_CONNECTIONS if once else "",
                settled=len(hosts) > 1 or _was_so(view, broker, client_id, found),
                messages=waits if len(seen) == 1 else (),
                key=client_id,
            )


def _once_at(view: GroupView, client_id: str) -> list[str]:
    """The brokers that know a client id from one address alone: a second process would be connected there too."""
    return [
        broker
        for broker, stored in view.stored.items()
        if not broker.startswith(PROXY)
        and [item.client_id for item in stored.connections].count(client_id) == 1
    ]


def _nobodys(view: GroupView) -> tuple[tuple[Lost, ...], str]:
    """The messages that wait because one id counts as several members, and a phrase with their queues."""
    waits: list[Lost] = []
    without_owner = []
    for topic in view.divided_topics:
        owners = view.owners(topic)
        missing = [queue for queue in view.queues(topic) if queue not in owners]
        if missing and not view.silent:
            waits += stranded(view, topic, missing)
            without_owner.append(f"{queues_text(missing)} of {topic}")
    return tuple(waits), f"; no member owns {joined(without_owner)}" if without_owner else ""


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


def why_silent(view: GroupView, silent: Member) -> str:
    """Why it isn't known what a member says of itself."""
    if silent.exchange.answer_code == _NOT_SUPPORTED:
        return (
            f"{silent.exchange.address} is a proxy, which doesn't forward request 307"
            if silent.client_id in view.behind_proxies
            else "its client doesn't know request 307"
        )
    if _is_a_moment_of_go(silent):
        return "its answer is empty, as a Go client's is for some seconds after its first messages"
    return silent.exchange.why_not or "its answer is not JSON"


def _is_a_moment_of_go(silent: Member) -> bool:
    """Its rates are no numbers until its second sample, 10 s later, and it can't write these (2.1.1)."""
    return silent.language == "GO" and silent.exchange.succeeded


def silent(view: GroupView) -> Iterator[Result]:
    """Members that don't answer: most checks are undetermined for them."""
    for member in view.silent:
        yield Unknown(
            f"{member.client_id} doesn't report its state: {why_silent(view, member)}",
            (Evidence(member.exchange, why_silent(view, member)),),
            look_again=_is_a_moment_of_go(member)
            or (member.exchange.answer_code not in (None, _NOT_SUPPORTED) and len(view.looks) < 3),
        )
    for stored in view.unclear_brokers:
        yield Unknown(
            f"{stored.exchange.address} didn't list the members that are online: {stored.exchange.why_not}",
            (Evidence(stored.exchange, stored.exchange.why_not),),
        )


def not_everywhere(view: GroupView) -> Iterator[Result]:
    """Members that some brokers of their topics know, and others don't."""
    holders = {broker for topic in view.topics for broker in view.on_brokers(topic)} & set(view.stored)
    for client_id in sorted(set(view.members) - view.behind_proxies):
        knowing = {
            broker
            for broker in holders
            if any(connection.client_id == client_id for connection in view.stored[broker].connections)
        }
        if missing := sorted(holders - knowing):
            yield Found(
                f"{client_id} is connected to {joined(sorted(knowing)) or 'no broker of its topics'}, "
                f"and not to {joined(missing)}{_asks_others(view, client_id)}",
                tuple(
                    Evidence(view.stored[holder].exchange, f"{holder} knows {client_id}: {holder in knowing}")
                    for holder in sorted(holders)
                ),
                settled=False,
                key=client_id,
            )


def _asks_others(view: GroupView, client_id: str) -> str:
    """The name servers of a member that lacks some of the other members' ones, as a phrase."""
    known = {item.name_servers for item in view.answered if item.name_servers}
    own = view.members[client_id].name_servers
    if not own or len(known) < 2:
        return ""
    others = sorted(set().union(*known) - own)
    return f"; it asks {joined(sorted(own))}, and not {joined(others)}, as other members do" if others else ""


def nobody(view: GroupView) -> Iterator[Result]:
    """A group that the user named and that has no known member."""
    if not view.named or view.online:
        return
    asked = view.now.stored.get(view.group, {})
    known = any(view.group in groups for groups in view.now.groups.values())
    proxies = any(name.startswith(PROXY) for name in asked)
    servers, which = ("no broker and no proxy", "another") if proxies else ("no broker", "a")
    unknown = f"{servers} that was asked knows a member of it{'' if known else ', or the group itself'}"
    either = "no member is online"
    if asked and len(view.unclear_brokers) == len(asked):
        unknown, either = f"{servers} that was asked tells who is online", "members are online there"
    more = "".join(tell(view) for tell in (_not_created, _guarded, _pulls_refused, _behind, _namesakes))
    evidence = tuple(
        Evidence(item.exchange, item.exchange.why_not or "no connection") for item in asked.values()
    )
    if not view.without_proxies:
        yield Unknown(
            f"{unknown}: either {either}, or its members use {which} proxy that runs "
            f"as a server of its own (`--proxy HOST:PORT` asks it){more}",
            evidence,
        )
        return
    lacking = tuple(Evidence(item.exchange, f"no topic {HEARTBEATS}") for item in view.now.proxies.values())
    yield Found(
        f"{unknown}, and no proxy that runs as a server of its own has been here, since the topic {HEARTBEATS}, "
        f"which such a proxy makes, is not there{more}",
        (*evidence, *lacking),
    )


def behind_an_unasked_proxy(view: ClusterView) -> Iterator[Result]:
    """Groups without a known member, on brokers that a proxy in cluster mode has used: it may serve them."""
    asked = any(name.startswith(PROXY) for stored in view.now.stored.values() for name in stored)
    brokers = sorted(name for name, groups in view.now.groups.items() if SYNCER in groups)
    unseen = sorted(group for group in view.now.stored if not view.now.members.get(group))
    if view.named or asked or not brokers or not unseen:
        return
    more = f" and {counted(len(unseen) - _MOST_NAMED, 'other group')}" if len(unseen) > _MOST_NAMED else ""
    names = ", ".join(unseen[:_MOST_NAMED]) + more if more else joined(unseen)
    have = "has" if len(brokers) == 1 else "have"
    yield Unknown(
        f"no broker knows a member of {names}. {joined(brokers)} {have} the group {SYNCER}, so a proxy in cluster "
        "mode has been here: it knows its members, and `--proxy HOST:PORT` asks it",
        tuple(Evidence(view.now.group_configs[name], f"{SYNCER} is there") for name in brokers),
    )


def _not_created(view: GroupView) -> str:
    """Which brokers ignore the heartbeats of a group that they don't have, as a phrase (ClientManageProcessor of
    5.5.0; one of 4.9 knows its members even so)."""
    names = [name for name, broker in view.now.brokers.items() if broker.is_of_5 and lacks_group(view, name)]
    if not names:
        return ""
    return (
        f"; {joined(names)} {'does' if len(names) == 1 else 'do'}n't have the group, and with "
        "autoCreateSubscriptionGroup false nobody becomes a member there: create it, `mqadmin updateSubGroup`"
    )


def _guarded(view: GroupView) -> str:
    """Which brokers check permissions, as a phrase: ACL 1 and 2 refuse the whole heartbeat of a member that lacks
    one (PlainAccessResource.parse of 4.9.4, DefaultAuthorizationContextBuilder of 5.5.0)."""
    names = [
        name
        for name, broker in view.now.brokers.items()
        if "true" in (broker.config.get("aclEnable"), broker.config.get("authorizationEnabled"))
    ]
    if not names:
        return ""
    return (
        f"; permissions are checked by {joined(names)}: a member is not known there if its account may not "
        "subscribe (SUB) to the group and to all of its topics; such a member's log has `No default permission "
        "for` (ACL 1) or `has no permission to access` (ACL 2)"
    )


def _pulls_refused(view: GroupView) -> str:
    """Which brokers refuse members that pull by themselves, as a phrase (ClientManageProcessor, 5.x)."""
    names = [
        name
        for name, broker in view.now.brokers.items()
        if broker.is_of_5 and broker.config.get("rejectPullConsumerEnable") == "true"
    ]
    if not names:
        return ""
    return (
        f"; rejectPullConsumerEnable is true on {joined(names)}: members that pull by themselves "
        "(DefaultMQPullConsumer, DefaultLitePullConsumer) are not known there, and their pulls are refused"
    )


def _namesakes(view: GroupView) -> str:
    """Groups that differ by their namespace alone, otherwise one that the user may have meant, as a phrase."""
    name = read.without_namespace(view.group)
    known = {group for groups in view.now.groups.values() for group in groups}
    of_topic = view.group.removeprefix(RETRY).removeprefix(DEAD_LETTERS)
    if of_topic != view.group and of_topic in known:
        return f"; {view.group} is a topic of {of_topic}: did you mean that?"
    found = sorted(group for group in known - {view.group} if read.without_namespace(group) == name)
    if found:
        return f"; brokers know {joined(found)} as well, by another namespace"
    # Brokers' answers have other groups only if the user asks for all of them, or for one that isn't there.
    # A group that the user names as well is not meant by another name.
    similar = "" if view.group in known else nearest(view.group, known - set(view.now.members))
    return f"; brokers know {similar}: did you mean that?" if similar else ""


def _behind(view: GroupView) -> str:
    """How many messages the group has not committed yet, by topic, as a phrase; empty where there are none."""
    lags = {
        topic: sum(
            max(0, ends.max_offset - max(ends.min_offset, offset))
            for queue, ends in view.ends(topic).items()
            if (offset := view.offset(topic, queue)) is not None
        )
        for topic in view.topics
    }
    behind = [f"{counted(lag, 'message')} of {topic}" for topic, lag in lags.items() if lag]
    return f"; it is {joined(behind)} behind" if behind else ""


CHECKS = (
    Check(
        "RC0201",
        "one client id is connected from several addresses",
        Level.ERROR,
        "every client id is connected from one address",
        "Members divide the queues by client id. Both processes take the first share, so its messages come "
        "twice; no process takes the second share, so its messages wait.",
        (
            "Give each process its own instance name (`setInstanceName`, `rocketmq.client.name`): containers "
            "with the same address and pid 1 get the same id.",
            "Restart them one after the other.",
        ),
        ("D13", "G13"),
        of_group=same_id,
    ),
    Check(
        "RC0202",
        "two listeners of one process are in the same group",
        Level.WARNING,
        "no process has two members in the group",
        "They count as two members and divide the queues between them. If they subscribe to different things, "
        "each loses the messages that are in the other's queues.",
        (
            "Give each listener its own group, or let one listener subscribe to everything.",
            "With Spring: each `@RocketMQMessageListener` needs a different `consumerGroup`.",
        ),
        ("A01", "D05", "D13"),
        of_group=one_process,
    ),
    Check(
        "RC0208",
        "a member or a broker doesn't answer",
        Level.WARNING,
        "every member reported its state",
        "Unknown: this diagnosis can't see whether the member consumes.",
        ("Check whether its process hangs, or its network is cut.",),
        ("A17",),
        of_group=silent,
    ),
    Check(
        "RC0209",
        "some brokers don't know a member",
        Level.WARNING,
        "every broker of the topics knows every member",
        "A broker that doesn't know a member gives clients another list of members, so that they divide the "
        "queues differently. A dead connection keeps its share of the queues for 120 s.",
        (
            "If it asks other name servers than the other members, give all members the same ones.",
            "Otherwise check whether the member reaches that broker's address. If it does, restart the member.",
        ),
        ("A10", "A17", "D11"),
        by_brokers=True,
        of_group=not_everywhere,
    ),
    Check(
        "RC0210",
        "no member of the group is known",
        Level.WARNING,
        "",
        "If no member is online, messages wait.",
        (
            "Correct the group's name, start its members, or ask the proxy (`--proxy`).",
            "If brokers check permissions, grant the members' account SUB on the group and on each of its topics: "
            "`mqadmin updateAclConfig` for ACL 1, `mqadmin createAcl` for ACL 2.",
        ),
        ("A15", "H11"),
        of_group=nobody,
        of_cluster=behind_an_unasked_proxy,
    ),
)
