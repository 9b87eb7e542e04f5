"""Topics and groups as brokers have them: missing, or closed to the group."""

import json
from collections.abc import Collection, Iterator

from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result, Unknown
from rocketchaos.harness.diagnose.meaning import expression_text
from rocketchaos.harness.diagnose.model import DEAD_LETTERS, RETRY, Route
from rocketchaos.harness.diagnose.numbers import queue_count
from rocketchaos.harness.diagnose.view import READ, WRITE, GroupView
from rocketchaos.harness.diagnose.words import joined
from rocketchaos.harness.language.tags import SQL

WHOLE_GROUP = (
    "Give the group's other settings too: `updateSubGroup` sets all that you leave out to defaults, and "
    "consumeBroadcastEnable and consumeFromMinEnable to false."
)

WHOLE_TOPIC = (
    "Give `updateTopic` both -r and -w, the numbers of queues for reading and for writing: it sets one that you "
    "leave out to 8, and the permission to 6."
)


def routed(view: GroupView, topic: str) -> tuple[Evidence, ...]:
    """The route of a topic, as evidence."""
    route = view.route(topic)
    if route is None:
        return ()
    return (Evidence(route.exchange, route_text(route)),)


def route_text(route: Route) -> str:
    """A topic's queues and permissions on each broker, as a phrase."""
    parts = [
        f"{name} (read {item.read_queues}, write {item.write_queues}, permission {_permission(item.permission)})"
        for name, item in sorted(route.brokers.items())
    ]
    return ", ".join(parts) or "no route"


def _permission(bits: int) -> str:
    return ("R" if bits & READ else "-") + ("W" if bits & WRITE else "-")


def missing_topic(view: GroupView) -> Iterator[Result]:
    """Topics that no name server has a route for, or whose route is unknown."""
    for topic in view.topics:
        if topic.startswith(RETRY):
            continue  # members that ask brokers for queues subscribe to retry topics that only POP makes (5.x)
        routes = list(view.now.routes.get(topic, {}).values())
        if any(route.brokers for route in routes):
            continue
        evidence = tuple(Evidence(route.exchange, route.exchange.why_not or "no queues") for route in routes)
        if any(route.unknown for route in routes):
            yield Unknown(f"the route is unknown: {evidence[0].says}", evidence, topic)
        elif view.own(topic) or view.held(topic):
            by_itself = any(
                broker.config.get("autoCreateTopicEnable") == "true" for broker in view.now.brokers.values()
            )
            before = tuple(_was_there(view, topic))
            yield Found(
                "no name server has a route for it"
                + (
                    "; it was there, since the group has consumed from it"
                    if before
                    else _mistyped(view, topic)
                ),
                (*evidence, *(before or _similar(view, topic))),
                topic,
                level=Level.WARNING if by_itself else None,
                effect="Brokers create the topic at its first message (autoCreateTopicEnable). Members see it up "
                "to 50 s later, and consume nothing until then."
                if by_itself
                else "",
                settled=False,
            )


def _was_there(view: GroupView, topic: str) -> Iterator[Evidence]:
    """Offsets of the group in a topic that somebody has deleted: brokers of 4.9 keep them."""
    for name, tables in view.now.offsets.items():
        offsets = tables.get(view.group, {}).get(topic, {})
        if any(offset > 0 for offset in offsets.values()):
            says = ", ".join(f"{queue}: {offset}" for queue, offset in sorted(offsets.items()))
            yield Evidence(view.now.offset_tables[name], f"offsets of {topic} on {name}: {says}")


def _mistyped(view: GroupView, topic: str) -> str:
    """A mistake in its name, as the end of a sentence."""
    blank = ", and its name has a blank at an end" if topic != topic.strip() else ""
    known = joined(sorted(view.now.similar.get(topic, {})))
    return f"{blank}; did you mean {known}?" if known else blank


def _similar(view: GroupView, topic: str) -> Iterator[Evidence]:
    for name, answer in sorted(view.now.similar.get(topic, {}).items()):
        yield Evidence(answer, f"{name} is there, and its name is like {topic}")


def without_topic(view: GroupView, holders: Collection[str]) -> list[str]:
    """The brokers that may lack a topic: another cluster at the same name servers has topics of its own."""
    known = view.now.brokers
    clusters = {known[name].cluster for name in holders if name in known}
    return sorted(name for name in known if name not in holders and known[name].cluster in clusters)


def not_on_every_broker(view: GroupView) -> Iterator[Found]:
    """Topics that only one of several brokers has, if brokers create topics automatically."""
    brokers = {name: broker for name, broker in view.now.brokers.items() if broker.config}
    for topic in view.present_topics:
        # Where name servers disagree, RC0801 tells.
        holders = {name for route in view.now.routes.get(topic, {}).values() for name in route.brokers}
        without = without_topic(view, holders)
        if not holders or not without or len(holders) > 1 or not _may_be_automatic(view, topic):
            continue
        if any(broker.config.get("autoCreateTopicEnable") == "true" for broker in brokers.values()):
            yield Found(
                f"only {joined(sorted(holders))} has it; without it: {joined(without)}",
                routed(view, topic),
                topic,
                # One that doesn't answer may have died between the request for brokers and that for the route.
                settled=all(name in brokers for name in without),
                key=",".join(without),
            )


def _may_be_automatic(view: GroupView, topic: str) -> bool:
    """Whether a producer may have had the topic created: RocketMQ makes retry and dead-letter topics where it
    needs them. One queue is a choice, for the order of all messages, and so are more than a first message makes
    (TopicConfigManager.createTopicInSendMessageMethod; 4.9.4, 5.5.0)."""
    if topic.startswith((RETRY, DEAD_LETTERS)):
        return False
    for name, item in view.on_brokers(topic).items():
        broker = view.now.brokers.get(name)
        most = queue_count(broker.config.get("defaultTopicQueueNums")) if broker is not None else 0
        if item.write_queues != 1 and not 0 < most < item.write_queues:
            return True
    return False


def lacks_group(view: GroupView, broker: str) -> bool:
    """Whether a broker doesn't have the group, and creates no group by itself: it refuses the group's pulls."""
    asked = view.now.group_configs.get(broker)
    return (
        asked is not None
        and asked.succeeded
        and view.group not in view.now.groups[broker]
        and view.now.brokers[broker].config.get("autoCreateSubscriptionGroup") == "false"
    )


def missing_group(view: GroupView) -> Iterator[Result]:
    """Brokers of the group's topics that have no configuration of the group."""
    holders = {broker for topic in view.present_topics for broker in view.on_brokers(topic)}
    if not view.online:
        return
    for broker in sorted(holders & set(view.now.group_configs)):
        text = view.now.group_configs[broker]
        if not text.succeeded:
            yield Unknown(f"{broker} didn't list its groups: {text.why_not}", (Evidence(text, text.why_not),))
        elif view.group not in view.now.groups[broker]:
            closed = lacks_group(view, broker)
            yield Found(
                f"{broker} doesn't have the group, and "
                + ("creates no group automatically" if closed else "creates it at the first pull"),
                (Evidence(text, f"{view.group} is not among its groups"),),
                level=None if closed else Level.INFO,
                effect=""
                if closed
                else "None: the broker creates it. Settings that the group had there are RocketMQ's own then.",
                key=broker,
            )


def closed_group(view: GroupView) -> Iterator[Result]:
    """Brokers that forbid the group to consume."""
    closed: dict[str, list[str]] = {}
    for broker, groups in sorted(view.now.groups.items()):
        config = groups.get(view.group, {})
        if config.get("consumeEnable") is False:
            closed.setdefault("consumeEnable is false on {}", []).append(broker)
        elif view.broadcasting and config.get("consumeBroadcastEnable") is False:
            closed.setdefault("consumeBroadcastEnable is false on {}, and members broadcast", []).append(
                broker
            )
    for sentence, brokers in closed.items():
        proof = (
            Evidence(view.now.group_configs[name], f"{name}: {json.dumps(view.now.groups[name][view.group])}")
            for name in brokers
        )
        yield Found(sentence.format(joined(brokers)), tuple(proof))


def no_sql(view: GroupView) -> Iterator[Result]:
    """Brokers that refuse to filter by SQL92, where a member wants it."""
    for topic in view.topics:
        wanting = {item: own for item, own in view.own(topic).items() if own.type == SQL}
        brokers = {
            name: view.now.brokers[name] for name in view.on_brokers(topic) if name in view.now.brokers
        }
        without = [
            name
            for name, broker in sorted(brokers.items())
            if broker.config.get("enablePropertyFilter") == "false"
        ]
        if wanting and without:
            example = next(iter(wanting.values()))
            yield Found(
                f"{joined(sorted(wanting))} {'wants' if len(wanting) == 1 else 'want'} "
                f"`{expression_text(example)}` (SQL92), and enablePropertyFilter is false on {joined(without)}",
                (
                    *(Evidence(brokers[name].asked[0], "enablePropertyFilter=false") for name in without),
                    *(Evidence(view.members[item].shown_by, f"{item}: SQL92") for item in wanting),
                ),
                topic,
            )


CHECKS = (
    Check(
        "RC0401",
        "a subscribed topic has no route",
        Level.ERROR,
        "every topic has a route",
        "No message can be sent to it or consumed from it.",
        (
            "Create the topic, or correct its name in the subscription.",
            "If it was deleted, diagnose again before you send: brokers of 4.9 keep its old offsets (RC0506).",
        ),
        of_group=missing_topic,
    ),
    Check(
        "RC0402",
        "a broker doesn't have the group",
        Level.ERROR,
        "every broker of the topics has the group",
        "The broker refuses the group's pulls, or ignores its heartbeats.",
        ("Create the group on that broker: `mqadmin updateSubGroup`.", WHOLE_GROUP),
        ("D15", "F18"),
        of_group=missing_group,
    ),
    Check(
        "RC0405",
        "only one broker has the topic, and brokers create topics automatically",
        Level.WARNING,
        "no topic is on only one of several brokers",
        "All messages go to that broker. The others carry no load, and if it fails, nothing can be sent.",
        (
            "If the topic is meant for that broker alone, change nothing.",
            "Otherwise create it on every broker, and set autoCreateTopicEnable to false.",
        ),
        ("B03",),
        of_group=not_on_every_broker,
    ),
    Check(
        "RC0406",
        "the group is not allowed to consume",
        Level.ERROR,
        "the group is allowed to consume",
        "The broker refuses all pulls of the group: messages there wait.",
        (
            "Set consumeEnable, or consumeBroadcastEnable, to true: `mqadmin updateSubGroup -s true -d true`.",
            WHOLE_GROUP,
        ),
        ("A08",),
        by_brokers=True,
        of_group=closed_group,
    ),
    Check(
        "RC0407",
        "a broker doesn't filter by SQL92",
        Level.ERROR,
        "every broker filters as members ask for",
        "The broker refuses the members' subscriptions and pulls: messages on that broker wait.",
        ("Set enablePropertyFilter to true: `mqadmin updateBrokerConfig`.",),
        by_brokers=True,
        of_group=no_sql,
    ),
)
