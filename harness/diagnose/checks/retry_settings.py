"""Groups whose failed messages get no retry: dead letters at once, dropped, or written where nobody reads."""

from collections.abc import Iterator

from rocketchaos.harness.diagnose.checks.configuration import WHOLE_GROUP, WHOLE_TOPIC
from rocketchaos.harness.diagnose.finding import Check, Evidence, Found, Level
from rocketchaos.harness.diagnose.view import GroupView
from rocketchaos.harness.diagnose.words import counted, joined

_DEAD_AT_ONCE = (
    "No listener gets any message: a proxy makes each one a dead letter when it pops it "
    "(PopMessageResultFilterImpl, 5.x)."
)
_LIMITS_OF_THEIR_OWN = (
    "None for clients that send a limit of their own with each retry, as Java's do (maxReconsumeTimes, default "
    "16). For others a failed message becomes a dead letter at once."
)


def no_retries(view: GroupView) -> Iterator[Found]:
    """Members, or a group, with a limit of 0 retries or less; members that broadcast never retry."""
    if view.broadcasting:
        return
    members = [item for item in view.answered if item.properties.get("maxReconsumeTimes") == "0"]
    if members:
        yield Found(
            f"maxReconsumeTimes is 0 in {joined([item.client_id for item in members])}",
            tuple(Evidence(item.exchange, "maxReconsumeTimes 0") for item in members),
        )
    limits: dict[int, list[str]] = {}
    for name, groups in sorted(view.now.groups.items()):
        limit = groups.get(view.group, {}).get("retryMaxTimes")
        if isinstance(limit, int) and limit <= 0:
            limits.setdefault(limit, []).append(name)
    for limit, brokers in sorted(limits.items()):
        level = Level.ERROR if limit < 0 else None
        effect = _DEAD_AT_ONCE if limit < 0 else ""
        yield Found(
            f"retryMaxTimes of the group is {limit} on {joined(brokers)}",
            tuple(
                Evidence(view.now.group_configs[name], f"{name}: retryMaxTimes {limit}") for name in brokers
            ),
            level=level if view.by_grpc else Level.INFO,
            effect=effect if view.by_grpc else _LIMITS_OF_THEIR_OWN,
        )


def no_retry_queues(view: GroupView) -> Iterator[Found]:
    """Brokers that keep no retries for the group, of which a member consumes concurrently; members that broadcast.

    With retryQueueNums 0 a broker answers SUCCESS to a member that hands a message back, and stores nothing
    (AbstractSendMessageProcessor.consumerSendMsgBack, 5.5.0).
    """
    yield from _broadcast(view)
    if not _sends_back(view):
        return
    brokers = [
        name
        for name, groups in sorted(view.now.groups.items())
        if groups.get(view.group, {}).get("retryQueueNums") == 0
    ]
    if brokers:
        yield Found(
            f"retryQueueNums of the group is 0 on {joined(brokers)}",
            tuple(Evidence(view.now.group_configs[name], f"{name}: retryQueueNums 0") for name in brokers),
        )


def _broadcast(view: GroupView) -> Iterator[Found]:
    """Members that broadcast, and whose concurrent listener fails: their clients drop the message
    (ConsumeMessageConcurrentlyService.processConsumeResult; 4.9.4, 5.5.0)."""
    for topic in view.topics if view.broadcasting else ():
        failing = {
            item.client_id: item
            for item in view.answered
            if topic in item.failing
            and not item.orderly
            and item.properties.get("messageModel") != "CLUSTERING"  # next to others that broadcast (RC0206)
        }
        if failing:
            yield Found(
                f"{joined(sorted(failing))} {'broadcasts' if len(failing) == 1 else 'broadcast'}, and "
                f"{'its' if len(failing) == 1 else 'their'} listener has failed in the last minute",
                tuple(
                    Evidence(item.exchange, f"{client_id}: consumeFailedTPS {item.failing[topic]:.2f}")
                    for client_id, item in sorted(failing.items())
                ),
                topic,
                effect="A client that broadcasts drops a message whose listener fails: that member never gets it "
                "again.",
            )


def unread_retry_queues(view: GroupView) -> Iterator[Found]:
    """Brokers whose retry topic of the group has fewer queues than the group's retryQueueNums.

    A broker chooses the queue of a retry among retryQueueNums, and doesn't change the topic when that is raised
    (apache/rocketmq#3953).
    """
    if not _sends_back(view):
        return
    for name, topic in sorted(view.on_brokers(view.retry_topic).items()):
        number = view.now.groups.get(name, {}).get(view.group, {}).get("retryQueueNums")
        if isinstance(number, int) and number > topic.read_queues:
            yield Found(
                f"retryQueueNums of the group is {number} on {name}, and {view.retry_topic} has "
                f"{counted(topic.read_queues, 'queue')} to read",
                (Evidence(view.now.group_configs[name], f"{name}: retryQueueNums {number}"),),
            )


def _sends_back(view: GroupView) -> bool:
    """Whether members send failed messages back: not those that broadcast, pop, or are all orderly."""
    if view.broadcasting or view.shares_queues:
        return False
    return not view.answered or not all(item.orderly for item in view.answered)


CHECKS = (
    Check(
        "RC0703",
        "failed messages are not retried",
        Level.WARNING,
        "no limit of retries is 0",
        "A message whose listener fails once becomes a dead letter at once. No consumer gets it again.",
        (
            "Raise maxReconsumeTimes on all members, or leave it at its default.",
            "For gRPC clients raise the group's retryMaxTimes: `mqadmin updateSubGroup -r`.",
            WHOLE_GROUP,
        ),
        ("G08",),
        by_members=True,
        of_group=no_retries,
    ),
    Check(
        "RC0704",
        "failed messages are dropped",
        Level.ERROR,
        "failed messages are kept for a retry",
        "A message whose listener fails once is gone: the broker says that it took it back, and stores nothing.",
        (
            "If members broadcast, let the listener itself try again.",
            "Otherwise set retryQueueNums to 1 or more: `mqadmin updateSubGroup -q 1`.",
            "Give the retry topic queues too, or RC0705 follows: `mqadmin updateTopic -t '%RETRY%GROUP' -r 1 -w "
            "1`. Members find them after at most 30 s.",
            WHOLE_GROUP,
        ),
        ("G06",),
        by_members=True,
        of_group=no_retry_queues,
    ),
    Check(
        "RC0705",
        "retries are written to queues that nobody reads",
        Level.ERROR,
        "the retry topic has all retry queues of the group",
        "A part of the failed messages doesn't come again: their retries wait in queues that no member has.",
        (
            "Raise the queues of the retry topic to retryQueueNums: `mqadmin updateTopic -t '%RETRY%GROUP'`.",
            WHOLE_TOPIC,
            "Members read them once they fetch the route again, after at most 30 s.",
        ),
        ("G06",),
        by_members=True,
        of_group=unread_retry_queues,
    ),
)
