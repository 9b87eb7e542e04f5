"""Members that differ where they should be alike."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from rocketchaos.harness.diagnose.checks.members import why_silent
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.model import RETRY, Member
from rocketchaos.harness.diagnose.owners import has_id_twice, others_of_one_id, settled
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import joined

_HALF_AN_HOUR_S, _QUARTER_S, _ZONES_S = 1800, 900, 15 * 3600
_DEFAULT_LIMIT = "16"
"""Of a concurrent client whose maxReconsumeTimes is -1 (DefaultMQPushConsumerImpl.getMaxReconsumeTimes)."""
_ONLY_RETRIES = (
    "Members with different strategies have only the retry topic in common. There a queue may get two owners, or "
    "none."
)
_ALIKE_NOW = (
    "None now: each queue has one owner, since the strategies share out these queues alike. With other members or "
    "queues, some may get two owners, and their messages come twice; others may get none, and their messages wait."
)
_CREATED_S = 60
"""An application starts a client within this time after it has created it, which sets its consumeTimestamp."""


def _differ(what: str, value: Callable[[GroupView, Member], str]) -> Callable[[GroupView], Iterator[Result]]:
    """A check that all members have the same value; empty values are left out."""

    def different(view: GroupView) -> Iterator[Result]:
        values: dict[str, list[str]] = {}
        for member in view.members.values():
            if shown := value(view, member):
                values.setdefault(shown, []).append(member.client_id)
        quiet = [member for member in view.silent if not value(view, member)]
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
            yield _no_answer(view, quiet)
        elif has_id_twice(view):
            yield others_of_one_id()

    return different


def _strategies(view: GroupView) -> Iterator[Result]:
    """Different strategies. They matter to a topic that members of several want; all have the retry topic."""
    in_common = any(
        len({view.members[client_id].strategy for client_id in view.own(topic)} - {""}) > 1
        for topic in view.topics
        if not topic.startswith(RETRY)
    )
    for result in _differ("strategies", lambda _view, member: member.strategy)(view):
        if isinstance(result, Found) and not in_common:
            result = replace(result, level=Level.WARNING, effect=_ONLY_RETRIES)
        elif isinstance(result, Found) and _share_out_alike(view):
            result = replace(result, level=Level.WARNING, effect=_ALIKE_NOW)
        yield result


def _share_out_alike(view: GroupView) -> bool:
    """Whether each queue still has one owner, and no rebalance will change that."""
    return not view.silent and all(
        settled(view, topic) is not False
        and all(len(view.owners(topic).get(queue, ())) == 1 for queue in view.queues(topic))
        for topic in view.divided_topics
    )


def _no_answer(view: GroupView, quiet: Sequence[Member]) -> Unknown:
    names = joined([member.client_id for member in quiet])
    return Unknown(
        f"{names} {'does' if len(quiet) == 1 else 'do'} not answer: {why_silent(view, quiet[0])}",
        tuple(Evidence(member.exchange, why_silent(view, member)) for member in quiet),
        by_silence=True,
    )


def _model(view: GroupView, member: Member) -> str:
    """What it tells. Go and C++ clients don't: one that has a part of a topic's queues is clustering, and one that
    has all of them broadcasting, if a heartbeat to a broker said so. Empty where neither is seen."""
    told = member.properties.get("messageModel", "")
    if told or member.client_id in view.by_grpc:
        return told
    shares = [
        sum(not held.dropped for held in member.queues[topic].values()) / len(queues)
        for topic in view.topics
        if topic in member.queues and (queues := view.queues(topic))
    ]
    if any(0 < share < 1 for share in shares):
        return "CLUSTERING"
    held = {stored.model for stored in view.stored.values()}
    return "BROADCASTING" if "BROADCASTING" in held and 1 in shares else ""


def _start(_view: GroupView, member: Member) -> str:
    """Where it starts without an offset; a timestamp too, unless it is the default."""
    where = member.properties.get("consumeFromWhere", "")
    own = member.properties.get("consumeTimestamp", "")
    if where != "CONSUME_FROM_TIMESTAMP" or not own or _is_default(own, member.started_ms):
        return where
    return f"{where} {own}"


def _is_default(timestamp: str, started_ms: int) -> bool:
    """Whether a consumeTimestamp is half an hour before its client's start, in the client's own time zone: those
    are whole quarters of an hour apart."""
    try:
        said = datetime.strptime(timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return False
    before_s = started_ms / 1000 - _HALF_AN_HOUR_S - said
    return abs(before_s) <= _ZONES_S and before_s % _QUARTER_S < _CREATED_S


def _language(view: GroupView, member: Member) -> str:
    """Of members that compute hashes and shares; for gRPC members the server does."""
    return "" if member.client_id in view.by_grpc else member.language


def _listener(_view: GroupView, member: Member) -> str:
    """Empty where its client doesn't tell."""
    known = {"true": "orderly", "false": "concurrent"}
    return known.get(member.properties.get("PROP_CONSUMEORDERLY", ""), "")


def _way_to_consume(_view: GroupView, member: Member) -> str:
    """A lite pull consumer that subscribes shares out queues as push consumers do. Only that of 5.x reports them,
    so one of 4.9 is known by its autoCommit, which no DefaultMQPullConsumer has (4.9.7)."""
    kind = member.properties.get("PROP_CONSUME_TYPE")
    if kind == "CONSUME_ACTIVELY":
        subscribes = "autoCommit" in member.properties and member.subscriptions
        return "" if member.queues or subscribes else "the application pulls"
    return "a listener" if kind == "CONSUME_PASSIVELY" else ""


def _limit(view: GroupView, member: Member) -> str:
    """How many retries it gives a message: a client sends its own limit with each (consumerSendMessageBack; 4.9.4,
    5.5.0). Empty where it doesn't tell or pulls by itself, and where RC0212 or RC0703 says what is wrong."""
    listening = [
        item for item in view.answered if item.properties.get("PROP_CONSUME_TYPE") == "CONSUME_PASSIVELY"
    ]
    shown = {item.client_id: item.properties.get("maxReconsumeTimes", "") for item in listening}
    if view.broadcasting or view.shares_queues or "0" in shown.values():
        return ""
    if len({item.orderly for item in listening}) > 1:
        return ""
    own = shown.get(member.client_id, "")
    if own != "-1":
        return own
    return "no limit" if member.orderly else _DEFAULT_LIMIT


def _version(view: GroupView, member: Member) -> str:
    """Of clients of one language; those of several have versions of their own (RC0203)."""
    several = len({item.language for item in view.members.values()}) > 1
    return "" if several else member.properties.get("PROP_CLIENT_VERSION", "")


CHECKS = (
    Check(
        "RC0203",
        "members of one group use clients of different languages",
        Level.WARNING,
        "all members use clients of the same language",
        "Clients of different languages may compute hashes, versions and shares of queues differently.",
        ("Use clients of one language in a group, or give each language its own group.",),
        ("H02", "H03", "H05"),
        of_group=_differ("languages", _language),
    ),
    Check(
        "RC0204",
        "members of one group have different client versions",
        Level.INFO,
        "all members have the same client version",
        "None by itself. During a rolling upgrade this is normal.",
        ("If an upgrade is under way, finish it.",),
        of_group=_differ("versions", _version),
    ),
    Check(
        "RC0205",
        "members have different start positions (consumeFromWhere)",
        Level.WARNING,
        "all members start at the same position if no offset is stored",
        "If a queue has no stored offset, its old messages are consumed or skipped, depending on which member "
        "gets it.",
        (
            "Give all members the same consumeFromWhere, and consumeTimestamp. They have an effect only if no "
            "offset is stored.",
        ),
        ("A07", "G14"),
        of_group=_differ("consumeFromWhere", _start),
    ),
    Check(
        "RC0206",
        "members of one group use different message models",
        Level.ERROR,
        "all members use the same message model",
        "A broadcasting member consumes all queues, in addition to each queue's owner, and its heartbeats make "
        "the broker treat the whole group as broadcasting.",
        ("Give broadcasting members their own group.", "Then restart the clustering members."),
        ("A07", "A08", "F23"),
        of_group=_differ("models", _model),
    ),
    Check(
        "RC0207",
        "members of one group use different allocation strategies",
        Level.ERROR,
        "all members use the same allocation strategy",
        "Each member takes its queues by its own strategy. Some queues get two owners, and their messages come "
        "twice. Other queues get no owner, and their messages wait.",
        (
            "Give all members the same AllocateMessageQueueStrategy.",
            "Deploy it to all members at the same time.",
        ),
        ("D12",),
        of_group=_strategies,
    ),
    Check(
        "RC0212",
        "some members consume orderly, others concurrently",
        Level.WARNING,
        "all members consume orderly, or all concurrently",
        "The order of a queue holds only while an orderly member owns it. A concurrent member takes no lock, so "
        "around a rebalance both may consume the same queue.",
        ("Give all members the same listener: MessageListenerOrderly, or MessageListenerConcurrently.",),
        of_group=_differ("listeners", _listener),
    ),
    Check(
        "RC0216",
        "some members have a listener, others pull by themselves",
        Level.WARNING,
        "all members have a listener, or all pull by themselves",
        "Members divide the queues among all of them. An application that pulls by itself may leave out some of "
        "its share, whose messages wait, and may pull queues of other members, whose messages come twice.",
        (
            "Give members that pull by themselves (DefaultMQPullConsumer) their own group.",
            "Then restart the members with a listener: their share is larger.",
        ),
        of_group=_differ("ways to consume", _way_to_consume),
    ),
    Check(
        "RC0218",
        "members give failed messages different numbers of retries",
        Level.WARNING,
        "all members give failed messages the same number of retries",
        "The member that fails last decides whether a message is retried or becomes a dead letter: the same "
        "failure has now fewer retries, now more.",
        (
            "Give all members the same maxReconsumeTimes.",
            "Look at the dead letters of the time before: some had fewer retries than they should have.",
        ),
        ("G06", "G08"),
        of_group=_differ("maxReconsumeTimes", _limit),
    ),
)
