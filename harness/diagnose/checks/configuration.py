"""Topics and groups as brokers have them: missing, unreadable, or read by nobody."""

from __future__ import annotations

from collections.abc import Iterator

from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.view import READ, WRITE, GroupView
from rocketchaos.harness.diagnose.words import joined, queues_text


def _on(view: GroupView, topic: str) -> tuple[Evidence, ...]:
    route = view.route(topic)
    if route is None:
        return ()
    text = "; ".join(
        f"{name}: read {item.read_queues}, write {item.write_queues}, permission {_permission(item.permission)}"
        for name, item in sorted(route.brokers.items())
    )
    return (Evidence(route.exchange, text),)


def _permission(bits: int) -> str:
    return ("R" if bits & READ else "-") + ("W" if bits & WRITE else "-")


def missing_topic(view: GroupView) -> Iterator[Result]:
    """Topics that no name server knows, or doesn't tell of."""
    for topic in view.topics:
        routes = list(view.now.routes.get(topic, {}).values())
        if any(route.brokers for route in routes):
            continue
        evidence = tuple(Evidence(route.exchange, route.exchange.why_not or "no queues") for route in routes)
        if any(route.unknown for route in routes):
            yield Unknown(f"the route isn't known: {evidence[0].says}", evidence, topic)
        elif view.own(topic) or view.held(topic):
            by_itself = any(
                broker.config.get("autoCreateTopicEnable") == "true" for broker in view.now.brokers.values()
            )
            yield Found(
                "no name server has a route of it",
                evidence,
                topic,
                level=Level.WARNING if by_itself else None,
                effect="Nothing of it is consumed: brokers make it at the first message (autoCreateTopicEnable), "
                "and members learn of it up to 50 s later."
                if by_itself
                else "",
                settled=False,
            )


def not_on_every_broker(view: GroupView) -> Iterator[Result]:
    """Topics that one broker alone has, of several that make topics by themselves."""
    brokers = {name: broker for name, broker in view.now.brokers.items() if broker.config}
    for topic in view.topics:
        # Where name servers disagree, RC0801 tells.
        holders = {name for route in view.now.routes.get(topic, {}).values() for name in route.brokers}
        without = sorted(set(view.now.brokers) - holders)
        if not holders or not without or len(holders) > 1:
            continue
        if any(broker.config.get("autoCreateTopicEnable") == "true" for broker in brokers.values()):
            yield Found(f"{joined(sorted(holders))} has it, {joined(without)} not", _on(view, topic), topic)


def missing_group(view: GroupView) -> Iterator[Result]:
    """Brokers of the group's topics that don't know the group's configuration."""
    holders = {broker for topic in view.topics for broker in view.on_brokers(topic)}
    if not view.online:
        return
    for broker in sorted(holders & set(view.now.group_configs)):
        text = view.now.group_configs[broker]
        if not text.succeeded:
            yield Unknown(f"{broker} didn't tell its groups: {text.why_not}", (Evidence(text, text.why_not),))
        elif view.group not in view.now.groups[broker]:
            config = view.now.brokers[broker].config
            closed = config.get("autoCreateSubscriptionGroup") == "false"
            yield Found(
                f"{broker} doesn't have it"
                + (", and makes none by itself" if closed else ", and makes it at the first pull"),
                (Evidence(text, f"{view.group} is not among its groups"),),
                level=None if closed else Level.INFO,
                settled=closed,
                key=broker,
            )


def closed_group(view: GroupView) -> Iterator[Result]:
    """Groups that may not consume."""
    for broker, groups in view.now.groups.items():
        config = groups.get(view.group, {})
        evidence = (Evidence(view.now.group_configs[broker], f"{broker}: {dict(config)}"),)
        if config.get("consumeEnable") is False:
            yield Found(f"consumeEnable is false on {broker}", evidence)
        elif view.broadcasting and config.get("consumeBroadcastEnable") is False:
            yield Found(f"consumeBroadcastEnable is false on {broker}, and members broadcast", evidence)


def unread_queues(view: GroupView) -> Iterator[Result]:
    """Queues that are written, and that no consumer learns of."""
    for topic in view.topics:
        for broker, item in sorted(view.on_brokers(topic).items()):
            if item.read_queues < item.write_queues:
                unread = [(broker, number) for number in range(item.read_queues, item.write_queues)]
                waiting = sum(
                    max(0, ends.max_offset - ends.min_offset)
                    for queue, ends in view.ends(topic).items()
                    if queue in unread
                )
                yield Found(
                    f"{broker} writes to {item.write_queues} queues and lets {item.read_queues} be read: "
                    f"{queues_text(unread)} is read by nobody",
                    _on(view, topic),
                    topic,
                    effect=f"{waiting} messages are stored there, and no member of any group gets them."
                    if waiting
                    else "",
                )


def permissions(view: GroupView) -> Iterator[Result]:
    """Topics that may not be read or written, the group's own among them."""
    for topic in view.topics:
        yield from _lacking(view, topic, READ, "may not be read", None)
        yield from _lacking(view, topic, WRITE, "may not be written", Level.WARNING)
    yield from _lacking(view, view.retry_topic, READ, "may not be read: retries never come", None)
    yield from _lacking(
        view, view.retry_topic, WRITE, "may not be written: what fails can't be sent back", None
    )
    yield from _lacking(
        view, view.dead_letter_topic, WRITE, "may not be written: dead letters are refused", None
    )
    # RocketMQ makes it so.
    yield from _lacking(
        view,
        view.dead_letter_topic,
        READ,
        "may not be read, as RocketMQ makes it: tools see none",
        Level.INFO,
    )


def _lacking(view: GroupView, topic: str, bit: int, what: str, level: Level | None) -> Iterator[Found]:
    closed = [name for name, item in sorted(view.on_brokers(topic).items()) if not item.permission & bit]
    if closed:
        yield Found(f"on {joined(closed)} it {what}", _on(view, topic), topic, level=level)


CHECKS = (
    Check(
        "RC0401",
        "a topic that is subscribed and nowhere",
        Level.ERROR,
        "every topic has a route",
        "Nothing of it can be sent or consumed.",
        ("Create the topic, or correct its name in the subscription.",),
        (),
        of_group=missing_topic,
    ),
    Check(
        "RC0402",
        "a group that a broker doesn't have",
        Level.ERROR,
        "every broker of the topics has the group",
        "The broker refuses the group's pulls, or ignores its heartbeats.",
        ("Create the group on that broker: `mqadmin updateSubGroup`.",),
        ("D15", "F18"),
        of_group=missing_group,
    ),
    Check(
        "RC0403",
        "queues that are written and never read",
        Level.ERROR,
        "every queue that is written can be read",
        "What is sent there is stored, and no member of any group gets it.",
        (
            "Raise readQueueNums to writeQueueNums on that broker; members read the queues after their next "
            "route, 30 s at most.",
            "To take queues away, lower writeQueueNums first, and readQueueNums once they are empty.",
        ),
        (),
        of_group=unread_queues,
    ),
    Check(
        "RC0404",
        "a topic that may not be read or written",
        Level.ERROR,
        "the topics, retries and dead letters may be read and written",
        "Clients leave the broker's queues out, or are refused.",
        ("Set the topic's permission to 6 on that broker: `mqadmin updateTopicPerm`.",),
        (),
        of_group=permissions,
    ),
    Check(
        "RC0405",
        "a topic on one broker alone, where brokers make topics by themselves",
        Level.WARNING,
        "no topic is on one broker alone",
        "All messages go to that broker: the others share no load, and if it fails nothing can be sent.",
        ("Create the topic on every broker.", "Set autoCreateTopicEnable to false."),
        ("B03",),
        of_group=not_on_every_broker,
    ),
    Check(
        "RC0406",
        "a group that may not consume",
        Level.ERROR,
        "the group may consume",
        "The broker refuses all its pulls.",
        ("Set consumeEnable, or consumeBroadcastEnable, to true: `mqadmin updateSubGroup`.",),
        ("A08",),
        of_group=closed_group,
    ),
)
