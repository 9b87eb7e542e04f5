"""Topics whose messages have an order that the group's members don't keep (5.x)."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose.checks.configuration import WHOLE_GROUP
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Inapplicable, Level, Result
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import joined


def order_lost(view: GroupView) -> Iterator[Result]:
    """FIFO topics whose messages members take concurrently.

    A member by gRPC takes them in order if its group has consumeMessageOrderly (5.0 to 5.5.0).
    """
    fifo = [topic for topic in view.topics if view.message_type(topic) == "FIFO"]
    if not fifo:
        yield Inapplicable()
    concurrent = [item for item in view.answered if item.properties.get("PROP_CONSUMEORDERLY") == "false"]
    unordered = [
        name
        for name, groups in sorted(view.now.groups.items())
        if view.by_grpc and groups.get(view.group, {}).get("consumeMessageOrderly") is False
    ]
    for topic in fifo:
        proof = (Evidence(view.now.topic_configs[topic], "message.type FIFO"),)
        if members := [item for item in concurrent if topic in item.subscriptions]:
            ids = sorted(item.client_id for item in members)
            yield Found(
                f"{joined(ids)} {'takes' if len(ids) == 1 else 'take'} its messages concurrently",
                (*proof, *(Evidence(item.exchange, "PROP_CONSUMEORDERLY false") for item in members)),
                topic,
                key=joined(ids),
            )
        if unordered:
            yield Found(
                f"consumeMessageOrderly of the group is false on {joined(unordered)}",
                (
                    *proof,
                    *(
                        Evidence(view.now.group_configs[name], f"{name}: consumeMessageOrderly false")
                        for name in unordered
                    ),
                ),
                topic,
                key=joined(unordered),
            )


CHECKS = (
    Check(
        "RC0217",
        "the messages of a FIFO topic are taken concurrently",
        Level.WARNING,
        "members take the messages of FIFO topics in order",
        "Messages of one message group may overtake one another: a listener handles several of them at a time, "
        "and a failed one comes again after later ones.",
        (
            "With clients by remoting, give all members a MessageListenerOrderly.",
            "With clients by gRPC, set the group's consumeMessageOrderly to true, `mqadmin updateSubGroup -o "
            "true`, and restart the members.",
            WHOLE_GROUP,
        ),
        of_group=order_lost,
    ),
)
