"""Topics that may not be read or written, and what that does to messages there."""

from collections.abc import Iterator, Sequence

from rocketchaos.harness.diagnose.checks.configuration import routed
from rocketchaos.harness.diagnose.fate import Lost, stranded
from rocketchaos.harness.diagnose.finding import MOST_ROUTED, Check, Found, Level, Result
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import READ, WRITE, GroupView
from rocketchaos.harness.diagnose.words import counted, joined

_READS_LESS = "Members leave out its queues: "
_BY_BROADCASTING = (
    "what they haven't handled there waits. Members that broadcast keep their own offsets, so nothing shows how "
    "many messages that are."
)
_WRITES_LESS, _WRITES_NONE = (
    "Producers send to the other brokers.",
    "Producers can't send: they find no queue.",
)
_RETRIES_STAY = ": retries that are stored there never come"
_KEPT = (
    "Members keep failed messages and call the listener again every 5 s. The group's offset stays at the oldest "
    "of them, and none becomes a dead letter."
)


def permissions(view: GroupView) -> Iterator[Result]:
    """Topics that may not be read or written; the retry and dead-letter topics of the group too."""
    unwritten: dict[tuple[str, ...], list[str]] = {}
    for closed_brokers, topics in _unread(view):
        yield _unread_of(view, closed_brokers, topics)
    for topic in view.present_topics:
        if not (closed := _closed(view, topic, WRITE)):
            continue
        if _written_elsewhere(view, topic):
            unwritten.setdefault(tuple(closed), []).append(topic)
        else:
            effect = f"{_WRITES_NONE}{_still_read(view, [topic])}"
            yield from _lacking(view, topic, WRITE, "may not be written", None, effect)
    for topics in unwritten.values():
        yield _written_less(view, topics)
    elsewhere = _written_elsewhere(view, view.retry_topic)
    # A broker that is closed to producers has closed this topic too, and that was told.
    if not elsewhere or tuple(_closed(view, view.retry_topic, WRITE)) not in unwritten:
        yield from _lacking(
            view,
            view.retry_topic,
            WRITE,
            "may not be written: failed messages "
            + ("are sent to another broker" if elsewhere else "can't be sent back"),
            Level.WARNING if elsewhere else None,
            "None: their retries come from there." if elsewhere else _KEPT,
        )
    yield from _lacking(
        view,
        view.dead_letter_topic,
        WRITE,
        "may not be written, but brokers still store dead letters there",
        Level.INFO,
        "None.",
    )
    # RocketMQ makes it so.
    yield from _lacking(
        view,
        view.dead_letter_topic,
        READ,
        "may not be read: so RocketMQ creates it, and tools see no dead letters",
        Level.INFO,
        "A consumer of the dead letters gets none.",
    )


def _written_less(view: GroupView, topics: Sequence[str]) -> Found:
    """Topics that the same brokers close to producers, and others don't: one finding, as of a broker in
    maintenance."""
    first, *others = topics
    closed = _closed(view, first, WRITE)
    what = f"{joined(topics)} may not be written" if others else "it may not be written"
    return Found(
        f"on {joined(closed)} {what}{_by_broker(view, closed, WRITE)}",
        tuple(item for topic in topics[:MOST_ROUTED] for item in routed(view, topic)),
        "" if others else first,
        level=Level.WARNING,
        effect=f"{_WRITES_LESS}{_still_read(view, topics)}",
    )


def _still_read(view: GroupView, topics: Sequence[str]) -> str:
    """That members still read topics that are closed to producers, as a sentence; empty if a broker closes one of
    them to members too, which is a finding of its own."""
    unread = any({*_closed(view, topic, READ)} & {*_closed(view, topic, WRITE)} for topic in topics)
    return "" if unread else " Members still get what is stored there."


def _written_elsewhere(view: GroupView, topic: str) -> bool:
    return any(item.permission & WRITE for item in view.on_brokers(topic).values())


def _waiting(view: GroupView, topic: str, closed: Sequence[str]) -> Sequence[Lost]:
    return stranded(view, topic, [queue for queue in view.ends(topic) if queue[0] in closed])


def _left_out(view: GroupView, closed: Sequence[str], topics: Sequence[str], waits: Sequence[Lost]) -> str:
    """What it means for messages that members leave out these brokers."""
    if view.broadcasting:
        return f"{_READS_LESS}{_BY_BROADCASTING}"
    count = sum(item.count for item in waits)
    if count:
        return f"{_READS_LESS}{counted(count, 'message')} {'waits' if count == 1 else 'wait'} there now."
    routes = [view.on_brokers(topic).get(name) for topic in topics for name in closed]
    if any(item.permission & WRITE for item in routes if item is not None):
        return f"{_READS_LESS}messages that are sent there wait."
    return f"{_READS_LESS}none waits there."


def _closed_by_brokers(view: GroupView) -> dict[tuple[str, ...], list[str]]:
    """By brokers that close all their topics to members (brokerPermission): the topics, if they are several, and
    the retry topic after the others."""
    found: dict[tuple[str, ...], list[str]] = {}
    for topic in view.present_topics:
        closed = tuple(_closed(view, topic, READ))
        if closed and closed == tuple(_by_itself(view, closed, READ)):
            found.setdefault(closed, []).append(topic)
    retries = _closed(view, view.retry_topic, READ)
    for closed, topics in found.items():
        if retries and {*retries} <= {*closed}:
            topics.append(view.retry_topic)
            break
    return {closed: topics for closed, topics in found.items() if len(topics) > 1}


def _unread(view: GroupView) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Which brokers close which topics to members: one by one, or together where brokers close all of theirs."""
    by_brokers = _closed_by_brokers(view)
    yield from by_brokers.items()
    together = {topic for topics in by_brokers.values() for topic in topics}
    for topic in (*view.present_topics, view.retry_topic):
        if topic not in together and (closed := _closed(view, topic, READ)):
            yield closed, [topic]


def _unread_of(view: GroupView, closed: Sequence[str], topics: Sequence[str]) -> Found:
    """Topics that the same brokers close to members: one finding."""
    waits = [item for topic in topics for item in _waiting(view, topic, closed)]
    own = [topic for topic in topics if topic != view.retry_topic]
    what = f"{joined(topics) if topics[1:] else 'it'} may not be read"
    return Found(
        f"on {joined(closed)} {what}{'' if own else _RETRIES_STAY}{_by_broker(view, closed, READ)}",
        tuple(item for topic in topics[:MOST_ROUTED] for item in routed(view, topic)),
        (own or topics)[0] if len(own) < 2 else "",
        effect=_left_out(view, closed, topics, waits),
        messages=tuple(waits),
    )


def _closed(view: GroupView, topic: str, bit: int) -> list[str]:
    """The brokers on which the topic lacks a permission; to write, not those of which only slaves are left: some
    name servers close their topics then, and RC0808 tells it."""
    brokers = view.now.brokers
    alone = {name for name in brokers if 0 not in brokers[name].addresses} if bit == WRITE else set()
    routes = sorted(view.on_brokers(topic).items())
    return [name for name, item in routes if not item.permission & bit and name not in alone]


def _lacking(
    view: GroupView,
    topic: str,
    bit: int,
    what: str,
    level: Level | None,
    effect: str,
) -> Iterator[Found]:
    if closed := _closed(view, topic, bit):
        yield Found(
            f"on {joined(closed)} it {what}{_by_broker(view, closed, bit)}",
            routed(view, topic),
            topic,
            level=level,
            effect=effect,
        )


def _by_itself(view: GroupView, closed: Sequence[str], bit: int) -> dict[str, str]:
    """The brokerPermission of each of these brokers that closes all its topics by it, by name."""
    settings = {
        name: broker.config.get("brokerPermission", "")
        for name in closed
        if (broker := view.now.brokers.get(name)) is not None
    }
    return {name: text for name, text in settings.items() if text.isdecimal() and not whole(text) & bit}


def _by_broker(view: GroupView, closed: Sequence[str], bit: int) -> str:
    """Which of these brokers close all their topics, as a phrase: name servers take it into their routes."""
    by_itself = [f"{name} is {text}" for name, text in _by_itself(view, closed, bit).items()]
    return f"; the brokerPermission of {joined(by_itself)}, for all its topics" if by_itself else ""


CHECKS = (
    Check(
        "RC0404",
        "a topic may not be read or written",
        Level.ERROR,
        "the topics, retries and dead letters may be read and written",
        "Clients leave out the queues of that broker, or the broker refuses their requests.",
        (
            "If the broker's own brokerPermission is the reason, set it to 6: `mqadmin updateBrokerConfig`.",
            "If a broker was closed on purpose, as for an upgrade (`mqadmin wipeWritePerm`), open it again: "
            "`mqadmin addWritePerm`.",
            "Otherwise set the topic's permission to 6 on that broker: `mqadmin updateTopicPerm`.",
        ),
        of_group=permissions,
    ),
)
