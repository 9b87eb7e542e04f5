"""Topics whose order configuration doesn't fit their queues.

A name server with orderMessageEnable sends a topic's order configuration (KV namespace ORDER_TOPIC_CONFIG) with
its route. Producers then send to these queues alone (MQClientInstance.topicRouteData2TopicPublishInfo; 4.9.4).
"""

from collections.abc import Iterator, Mapping

from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.model import Route
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import WRITE, GroupView
from rocketchaos.harness.diagnose.words import joined


def misfit(view: GroupView) -> Iterator[Result]:
    """Order configurations that name other queues than the topic has."""
    for topic in view.present_topics:
        for address, route in view.now.routes.get(topic, {}).items():
            if not route.order or not route.brokers:
                continue
            named = _queues(route.order)
            problems = ["it can't be read"] if named is None else _too_many(route, named)
            fewer = [] if named is None else _too_few(route, named)
            if problems or fewer:
                yield Found(
                    f"{address} has the order configuration `{route.order}`: {joined([*problems, *fewer])}",
                    (Evidence(route.exchange, f"orderTopicConf {route.order}"),),
                    topic,
                    level=None if problems else Level.WARNING,
                    effect="" if problems else "Producers leave these queues out: they get no messages.",
                )
                break  # name servers that differ are RC0801


def _queues(order: str) -> Mapping[str, int] | None:
    """Queues by broker, of `broker-a:4;broker-b:4`; None: it is no such text."""
    parts = [item.partition(":") for item in order.split(";")]
    if not all(name and number.isdecimal() for name, _, number in parts):
        return None
    return {name: whole(number) for name, _, number in parts}


def _writable(route: Route) -> dict[str, int]:
    return {name: item.write_queues for name, item in route.brokers.items() if item.permission & WRITE}


def _too_many(route: Route, named: Mapping[str, int]) -> list[str]:
    writable = _writable(route)
    return [
        f"{name} has {has} writable queues"
        if (has := writable.get(name))
        else f"{name} has no writable queue"
        for name, number in sorted(named.items())
        if number > writable.get(name, 0)
    ]


def _too_few(route: Route, named: Mapping[str, int]) -> list[str]:
    return [
        f"it leaves out {has - named.get(name, 0)} of {has} queues on {name}"
        for name, has in sorted(_writable(route).items())
        if named.get(name, 0) < has
    ]


CHECKS = (
    Check(
        "RC0409",
        "a topic's order configuration doesn't fit its queues",
        Level.ERROR,
        "order configurations fit the queues of their topics",
        "Producers send to the queues that the order configuration names. A send to a queue or broker that isn't "
        "there fails.",
        (
            "Correct it on every name server, or delete it: `mqadmin updateOrderConf`.",
            "Leave messages of one key time to be consumed: their queue changes.",
        ),
        of_group=misfit,
    ),
)
