"""Queues with messages that no consumer reads, because of the numbers of a topic's queues."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose import read
from rocketchaos.harness.diagnose.checks.configuration import WHOLE_TOPIC, routed
from rocketchaos.harness.diagnose.fate import stranded
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level, Result
from rocketchaos.harness.diagnose.numbers import whole
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, queues_text
from rocketchaos.harness.rocketmq.allocation import Queue


def unread_queues(view: GroupView) -> Iterator[Result]:
    """Queues that producers write to and consumers don't see."""
    for topic in view.present_topics:
        for broker, item in sorted(view.on_brokers(topic).items()):
            if item.read_queues < item.write_queues:
                unread = [(broker, number) for number in range(item.read_queues, item.write_queues)]
                # What the group read before readQueueNums was lowered doesn't wait.
                waits = stranded(view, topic, unread)
                waiting = sum(item.count for item in waits)
                yield Found(
                    f"{broker} has {item.write_queues} queues for writing and {item.read_queues} for reading: "
                    f"no consumer reads {queues_text(unread)}",
                    routed(view, topic),
                    topic,
                    effect=f"{counted(waiting, 'message')} that the group hasn't read: no consumer of any group "
                    "gets what is stored there."
                    if waiting
                    else "",
                    messages=tuple(waits),
                )


def removed_queues(view: GroupView) -> Iterator[Result]:
    """Queues that the topic no longer has, with messages that the group hasn't read."""
    for topic in view.present_topics:
        if view.is_static(topic):
            continue
        unread: dict[Queue, int] = {}
        for (of, queue), exchange in view.now.removed.items():
            offset = view.offset(topic, queue)
            if of == topic and exchange.succeeded and offset is not None:
                document = read.mapping(exchange.document)
                begin, end = (whole(document.get(key)) for key in ("minQueueIndex", "maxQueueIndex"))
                if end > max(begin, offset):
                    unread[queue] = end - max(begin, offset)
        if unread:
            yield Found(
                f"its route no longer has {queues_text(unread)}, with "
                f"{counted(sum(unread.values()), 'message')} that the group hasn't read",
                (
                    *(
                        Evidence(
                            view.now.removed[topic, queue],
                            f"offset {view.offset(topic, queue)}, {count} unread",
                        )
                        for queue, count in unread.items()
                    ),
                    *routed(view, topic),
                ),
                topic,
                key=queues_text(unread),
            )


CHECKS = (
    Check(
        "RC0403",
        "queues are written but never read",
        Level.ERROR,
        "every queue for writing is one for reading too",
        "The broker stores the messages that are sent there, but no consumer of any group gets them.",
        (
            "Raise readQueueNums to writeQueueNums on that broker: `mqadmin updateTopic -b`. Members read the "
            "queues once they fetch the route again, after at most 30 s.",
            WHOLE_TOPIC,
            "To remove queues, lower writeQueueNums first. Lower readQueueNums when those queues are empty.",
        ),
        of_group=unread_queues,
    ),
    Check(
        "RC0408",
        "queues with unread messages were removed",
        Level.ERROR,
        "no queue with unread messages was removed",
        "The messages in these queues wait until the topic has the queues again, or retention deletes them.",
        (
            "Raise readQueueNums again on that broker: `mqadmin updateTopic -b`.",
            WHOLE_TOPIC,
            "Lower it when the group has read these queues. Lower writeQueueNums first.",
        ),
        by_brokers=True,
        of_group=removed_queues,
    ),
)
