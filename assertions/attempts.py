"""The attempts at each message, by audience, in order of time. Pure. An audience gets each message once if all
goes well: it is a group, or one consumer of a broadcasting group.
"""

from collections.abc import Sequence
from itertools import pairwise

from rocketchaos.assertions.completeness import still_possible
from rocketchaos.assertions.on_the_way import SUSPENDED_MS, natural_delay_ms, retry_delay_ms
from rocketchaos.assertions.oracle import FAILED, SUSPENDED, is_last_attempt, why_dropped
from rocketchaos.assertions.too_early import TooEarly
from rocketchaos.assertions.view import Delivery, RunView
from rocketchaos.harness.core.events.messages import Consumed
from rocketchaos.harness.core.events.observed import DeadLettersObserved
from rocketchaos.harness.core.model import Event
from rocketchaos.harness.core.text import counted


def audience_of(view: RunView, consumer: str) -> str:
    """The consumer's group; the consumer itself if it is broadcasting."""
    spec = view.scenario.consumers[consumer]
    return consumer if spec.model == "broadcasting" else spec.group


def attempts(
    view: RunView, until: int, consumers: Sequence[str] | None = None
) -> dict[tuple[str, str], list[Delivery]]:
    """What listeners got by event number `until`: by audience and message, in order of time."""
    found: dict[tuple[str, str], list[Delivery]] = {}
    for delivery in view.deliveries(until, consumers):
        found.setdefault((audience_of(view, delivery.consumer), delivery.key), []).append(delivery)
    return {where: sorted(own, key=lambda item: item.event.mono_ns) for where, own in found.items()}


def repeats(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """The repeats of one message and audience: deliveries that came again, and not as a retry.

    A retry has a higher reconsumeTimes than everything before it.
    """
    found: list[Delivery] = []
    highest = -1
    for delivery in deliveries:
        if delivery.reconsume_times <= highest:
            found.append(delivery)
        highest = max(highest, delivery.reconsume_times)
    return found


def retries(
    view: RunView, until: int, group: str, consumers: Sequence[str] | None = None
) -> list[tuple[Delivery, Delivery]]:
    """The group's retries after a failed listener, each with the attempt before it. If consumers are named, only
    their retries: the attempt before may be another one's.
    """
    own = attempts(view, until, view.scenario.members(group)).values()
    return [
        (before, again)
        for of_message in own
        for before, again in pairwise(of_message)
        if again.reconsume_times > before.reconsume_times
        and (consumers is None or again.consumer in consumers)
    ]


def answer_to(view: RunView, delivery: Delivery, until: int) -> Event[Consumed] | None:
    """The listener's answer to a delivery; None: none yet."""
    return next(
        (
            event
            for event in view.results_of(delivery.key, until)
            if event.node == delivery.consumer and event.n > delivery.event.n
        ),
        None,
    )


def failed(view: RunView, delivery: Delivery, until: int) -> bool:
    """Whether its listener has answered that it failed."""
    return _failure(view, delivery, until) is not None


def _failure(view: RunView, delivery: Delivery, until: int) -> Event[Consumed] | None:
    answer = answer_to(view, delivery, until)
    return answer if answer is not None and answer.body.status in (FAILED, SUSPENDED) else None


def _failed_last(view: RunView, group: str, until: int) -> list[tuple[Delivery, Event[Consumed]]]:
    """The last attempts in the group that failed, of messages that may come again, each with the answer."""
    found = []
    for (audience, _), own in attempts(view, until, view.scenario.members(group)).items():
        answer = _failure(view, own[-1], until) if audience == group else None
        if answer is not None and why_dropped(view, group, own[-1], answer, until) is None:
            found.append((own[-1], answer))
    return found


def awaiting_retry(view: RunView, group: str, until: int) -> list[str]:
    """Messages whose last attempt in the group failed: another one follows, or the dead-letter queue."""
    return [delivery.key for delivery, _ in _failed_last(view, group, until)]


def whose_retries_reach(view: RunView, group: str) -> list[str]:
    """The groups whose POP retries members of the group may pop: itself, and those with the same retry topic.

    Its name is %RETRY%group_topic unless a broker has enableRetryTopicV2 (`KeyBuilder.buildPopRetryTopicV1`,
    5.5.0): g of a_b and g_a of b share one, where brokers have the names as they are written.
    """
    scenario = view.scenario
    if not scenario.names_as_written or not view.shares_queues(group):
        return [group]
    topics = {name: _subscribed(view, name) for name in scenario.groups}
    own = {f"{group}_{topic}" for topic in topics[group]}
    others = (name for name in topics if name != group and view.shares_queues(name))
    return [group, *(name for name in others if own & {f"{name}_{topic}" for topic in topics[name]})]


def _subscribed(view: RunView, group: str) -> set[str]:
    members = view.scenario.members(group)
    return {topic for name in members for topic in view.scenario.consumers[name].subscribe}


def next_attempt_by_ns(view: RunView, groups: Sequence[str], until: int) -> int | None:
    """When the next attempt of each message that failed last has come, or the message is a dead letter."""
    moments = []
    for group in groups:
        for delivery, answer in _failed_last(view, group, until):
            spec = view.scenario.consumers[delivery.consumer]
            delay_ms = natural_delay_ms(view.timing)
            if answer.body.status == SUSPENDED:
                delay_ms += SUSPENDED_MS
            elif not is_last_attempt(spec, delivery.reconsume_times):
                delay_ms += retry_delay_ms(spec.retry_delay_level, delivery.reconsume_times)
            moments.append(answer.mono_ns + delay_ms * 1_000_000)
    return max(moments, default=None)


def dead_letters(view: RunView, group: str, moment: str) -> Event[DeadLettersObserved] | None:
    """The observation of a group's dead letters."""
    events = view.observed(DeadLettersObserved, moment, group=group)
    return events[-1] if events else None


def retries_to_come(view: RunView, group: str, moment: str, until: int) -> TooEarly | None:
    """None if every failed message is a dead letter by now; otherwise what is still to come."""
    waiting = len(awaiting_retry(view, group, until))
    observed = dead_letters(view, group, moment)
    given_up = 0 if observed is None else observed.body.count
    if waiting <= given_up:
        return None
    return TooEarly(
        f"too early to say: {counted(waiting - given_up, 'message')} failed last, and another attempt follows; "
        "`at` and `so_far: true` count what had come by an observation",
        next_attempt_by_ns(view, [group], until),
    )


def first_attempts_to_come(view: RunView, group: str, until: int) -> TooEarly | None:
    """None if every message has come to the group by now, or never will; otherwise why that can't be said."""
    return still_possible(view, [group], view.sent_until(until), until)
