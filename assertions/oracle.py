"""The oracle: the fate of every message for every group, and the events that prove it. Pure.

A message that no listener got has one of these fates. If the group's offset has passed it, a filter took it, or it
is lost: see `assertions.passed`, and `assertions.popped` if members share the queues. If the offset hasn't passed
it, it waits: stranded if no member consumes its queue, in flight otherwise: `assertions.waiting`. If the history
can't decide, the oracle answers `undetermined`: nothing proves the stored subscription or the queue's owner from
the sending to the passing (`assertions.case`), or only the broker could know.
"""

import sys

from rocketchaos.assertions.case import Case
from rocketchaos.assertions.passed import fate_of_passed
from rocketchaos.assertions.popped import fate_of_unacknowledged
from rocketchaos.assertions.set_offsets import set_by_tools
from rocketchaos.assertions.view import Delivery, RunView
from rocketchaos.assertions.waiting import fate_of_waiting
from rocketchaos.harness.core.events.messages import Consumed, OffsetsReset
from rocketchaos.harness.core.events.observed import DeadLettersObserved
from rocketchaos.harness.core.events.run import TopicCreated
from rocketchaos.harness.core.events.servers import GroupConfigured, TopicConfigured
from rocketchaos.harness.core.model import Event, MessageClass, MessageFate
from rocketchaos.harness.language.consumer_spec import Consumer
from rocketchaos.harness.language.topic import RETRY

FAILED = "RECONSUME_LATER"
"""The answer of a concurrent listener that fails: the message goes to the retry topic."""
SUSPENDED = "SUSPEND_CURRENT_QUEUE_A_MOMENT"
"""The answer of an orderly listener that fails: the client hands the message over again, and the queue waits for
it."""

PANICKED = "PANIC"
"""A concurrent listener of Go that panics: its client recovers, sends nothing back, and keeps the message
(`consumeMessageConcurrently`, rocketmq-client-go 2.1.2)."""

_WRITE = 2
"""PermName.PERM_WRITE."""

MAX_RECONSUME_TIMES = 16
"""The default of concurrent consumers (`DefaultMQPushConsumerImpl.getMaxReconsumeTimes`, 4.9.4)."""


def fates(view: RunView, at: int) -> list[MessageFate]:
    """The fate of every message for every group that subscribes to its topic, as known at event `at`."""
    return [
        fate_of(Case(view, group, message, at))
        for group in view.scenario.groups
        for message in view.sent_until(at)
        if any(
            message.topic in view.own_subscriptions.topics(member, at)
            for member in view.scenario.members(group)
        )
    ]


def fate_of(case: Case) -> MessageFate:
    """The fate of one message for one group."""
    members = case.view.scenario.members(case.group)
    got = [
        delivery
        for delivery in case.view.deliveries_of(case.message.key, case.at)
        if delivery.consumer in members
    ]
    if got:
        return _delivered(case, got)
    passed = case.view.first_passed(case.group, case.message, case.at)
    return fate_of_waiting(case) if passed is None else fate_of_passed(case, passed)


def _delivered(case: Case, got: list[Delivery]) -> MessageFate:
    names = tuple(delivery.consumer for delivery in got)
    results = [event for event in case.view.results_of(case.message.key, case.at) if event.node in names]
    proof: list[Event] = [*(delivery.event for delivery in got), *results]
    verb = case.view.how_reported(names[-1]) if got[-1].event.body.line is not None else None
    how = f"the listener of {names[-1]} got it" if verb is None else f"{names[-1]} {verb} that it handled it"
    made, reason = MessageClass.DELIVERED, how
    failed = [event for event in results if event.body.status in (FAILED, SUSPENDED)]
    last = next((event for event in results if event.node == names[-1] and event.n > got[-1].event.n), None)
    if last is not None and len(failed) == len(results):
        if case.spec(names[-1]).model == "broadcasting":
            reason += " and failed; broadcasting has no retries"
        elif not case.traits(names[-1]).retries:
            reason += " and failed; its client has no retries"
        elif (letters := _dead_letters(case, got[-1])) is not None:
            made, reason = MessageClass.DEAD_LETTER, "the listener failed for the last time that it may"
            proof.append(letters)
        elif (dropped := why_dropped(case.view, case.group, got[-1], last, case.at)) is not None:
            made, (reason, event) = MessageClass.LOST, dropped
            proof.append(event)
        elif case.traits(names[-1]).queues == "shared":
            made, reason = fate_of_unacknowledged(case, last, got[-1].reconsume_times)
        elif last.body.status == SUSPENDED:
            made, reason = MessageClass.IN_RETRY, "the last listener failed; its client hands it over again"
        elif _put_aside(case.view, last):
            made, reason = (
                MessageClass.IN_RETRY,
                "the orderly listener answered ConsumeRetryLater: its client has put the message aside, and it "
                "comes again only if its queue changes hands before a later message succeeds",
            )
        else:
            made, reason = MessageClass.IN_RETRY, "the last listener failed; it waits in the retry topic"
    elif last is not None and all(event.body.status == PANICKED for event in results):
        reason += (
            " and panicked; its client keeps it, and hands it over again only after its queue changes hands"
        )
    # The first delivery itself proves who owned the queue; what was stored then only a bracket can.
    stored = case.stored(got[0].event.n)
    owner = names[0] if case.traits(names[0]).queues == "owned" else None
    return case.made(
        made, reason, proof, got=names, owner=owner, stored=stored.expression if stored else None
    )


def _dead_letters(case: Case, last: Delivery) -> Event[DeadLettersObserved] | None:
    """The look at the group's dead-letter queue that proves the fate of a message that failed for the last time.

    A message whose reconsumeTimes has come to the consumer's maximum goes there instead of to the retry topic
    (`AbstractSendMessageProcessor.consumerSendMsgBack`, `SendMessageProcessor` in 4.9.4), and so does any with a
    delay level below 0.
    """
    if not _is_final(case, last):
        return None
    observations = [
        event
        for event in case.view.of_kind(DeadLettersObserved, until=case.at)
        if event.body.group == case.group and event.n > last.event.n
    ]
    return next(
        (
            observation
            for observation in observations
            if observation.body.count >= _given_up(case, observation.n)
        ),
        None,
    )


def why_dropped(
    view: RunView, group: str, last: Delivery, answer: Event[Consumed], at: int
) -> tuple[str, Event] | None:
    """Why a message never comes again after this failure, and the event that proves it; None: it may.

    With retryQueueNums 0 a broker answers SUCCESS and stores nothing (`SendMessageProcessor.
    asyncConsumerSendMsgBack` in 4.9.4, `AbstractSendMessageProcessor.consumerSendMsgBack` in 5.5.0). After an
    orderly Go listener answers ConsumeRetryLater, its client neither hands the message over again nor sends it
    back, and the next message that succeeds commits both (`pushConsumer.consumeMessageOrderly`, 2.1.2). In 2.1.0
    that happens after SuspendCurrentQueueAMoment, too (`processQueue.makeMessageToCosumeAgain`).

    Where the retry topic may not be written, a broker refuses what is sent back. A Java client keeps the message
    then, and its offset. A client of Go doesn't look at the answer (`pushConsumer.sendMessageBack`, 2.1.2): its
    offset passes the message.
    """
    if answer.body.status not in (FAILED, SUSPENDED) or view.traits(answer.node).queues == "shared":
        return None
    if _put_aside(view, answer):
        return _left_behind(view, group, last, "the orderly listener answered ConsumeRetryLater", 0, at)
    if answer.body.status == SUSPENDED:
        if is_last_attempt(view.scenario.consumers[answer.node], last.reconsume_times):
            return None
        return _left_behind(view, group, last, "the last listener failed", answer.n, at)
    if _refuses_retries(view, group, answer.n) and not is_last_attempt(
        view.scenario.consumers[answer.node], last.reconsume_times
    ):
        failure = "the last listener failed, and the broker refuses it, as the retry topic may not be written"
        return _left_behind(view, group, last, failure, answer.n, at)
    events = [event for event in view.of_kind(GroupConfigured, until=answer.n) if event.body.group == group]
    if not events or events[-1].body.settings.get("retryQueueNums") != 0:
        return None
    reason = (
        "the last listener failed, and the group's retryQueueNums is 0: the broker answers that it took the "
        "message back, and drops it"
    )
    return reason, events[-1]


def _refuses_retries(view: RunView, group: str, at: int) -> bool:
    """Whether the group's retry topic may not be written at event `at` (`perm` without 2)."""
    events: list[Event[TopicCreated] | Event[TopicConfigured]] = [
        *view.of_kind(TopicCreated, until=at),
        *view.of_kind(TopicConfigured, until=at),
    ]
    own = [event for event in events if event.body.topic == f"{RETRY}{group}"]
    perm = max(own, key=lambda event: event.n).body.settings.get("perm", _WRITE) if own else _WRITE
    return not int(perm) & _WRITE


def _left_behind(
    view: RunView, group: str, last: Delivery, failure: str, since: int, at: int
) -> tuple[str, Event] | None:
    """That a client goes on behind a message that failed, first seen after event `since`."""
    message = next((message for message in view.sent if message.key == last.key), None)
    passed = None if message is None else view.first_passed(group, message, at)
    resets = [event for event in view.of_kind(OffsetsReset, until=at) if event.body.group == group]
    if passed is None or passed.n < since or resets or any(set_by_tools(view, group)):
        return None
    return (
        f"{failure}: its client did not hand the message over again, and the group's offset passed it",
        passed,
    )


def _put_aside(view: RunView, answer: Event[Consumed]) -> bool:
    """Whether an orderly listener answered what is meant for concurrent ones."""
    orderly = view.scenario.consumers[answer.node].listener == "orderly"
    return orderly and answer.body.status == FAILED and view.traits(answer.node).queues == "owned"


def _given_up(case: Case, until: int) -> int:
    """The number of the group's messages that had their last allowed delivery."""
    members = case.view.scenario.members(case.group)
    return len(
        {delivery.key for delivery in case.view.deliveries(until, members) if _is_final(case, delivery)}
    )


def _is_final(case: Case, delivery: Delivery) -> bool:
    """Whether no retry follows the delivery, should it fail.

    Of a gRPC member the group's retryMaxTimes alone decides (`GrpcClientSettingsManager.mergeMetric`).
    """
    if not case.view.kind_of_client(delivery.consumer).needs_proxy:
        return is_last_attempt(case.spec(delivery.consumer), delivery.reconsume_times)
    seen = [e.body.settings for e in case.view.of_kind(GroupConfigured) if e.body.group == case.group]
    most = seen[-1].get("retryMaxTimes", MAX_RECONSUME_TIMES) if seen else MAX_RECONSUME_TIMES
    return isinstance(most, int) and delivery.reconsume_times >= most


def is_last_attempt(spec: Consumer, reconsume_times: int) -> bool:
    """Whether no retry follows an attempt of this consumer, should it fail."""
    most = spec.properties.get("maxReconsumeTimes", -1)
    if most == -1:  # RocketMQ's own default, which stands for this
        most = MAX_RECONSUME_TIMES if spec.listener == "concurrent" else sys.maxsize
    return reconsume_times >= most or (spec.retry_delay_level or 0) < 0
