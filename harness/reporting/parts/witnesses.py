"""Where the three witnesses diverge: what listeners got, what the offsets say, what the dashboard shows."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from rocketchaos.assertions.event_view import of_type
from rocketchaos.harness.core.events.messages import LineOfNoMessage
from rocketchaos.harness.core.events.observed import (
    DashboardConnectionsObserved,
    DashboardTracksObserved,
    Observation,
    OwnSubscription,
    SubscriptionObserved,
    TracksObserved,
)
from rocketchaos.harness.core.model import Event, MessageClass, MessageFate
from rocketchaos.harness.core.text import counted
from rocketchaos.harness.language.expressions import as_data, in_words
from rocketchaos.harness.language.tags import tags_of
from rocketchaos.harness.reporting.base import Report
from rocketchaos.harness.reporting.parts.subscriptions import reported

OBSERVED = TypeVar("OBSERVED", bound=Observation)
_HANDLED = frozenset((MessageClass.DELIVERED, MessageClass.IN_RETRY, MessageClass.DEAD_LETTER))
_PASSED = frozenset((MessageClass.FILTERED_BY_BROKER, MessageClass.FILTERED_BY_CLIENT, MessageClass.LOST))


def divergences(run: Report) -> list[str]:
    """One sentence for each way in which the broker's word and the listeners' differ."""
    of_groups = [
        text
        for group in run.scenario.groups
        for text in (*_tracks(run, group), *_dashboard(run, group), *_offsets(run, group))
    ]
    return [*of_groups, *_strangers(run), *_programs(run), *_uncounted_lines(run)]


def _of_group(run: Report, group: str) -> list[MessageFate]:
    return [fate for fate in run.outcome.messages if fate.group == group]


def last_tracks(run: Report) -> dict[tuple[str, str], str]:
    """By group and key: the TrackType that the dashboard showed last; where there is none, that it would show."""
    found = _last_of_tools(run)
    for event in of_type(run.events, DashboardTracksObserved):
        for group in run.scenario.groups:
            found.pop((group, event.body.key), None)
        found |= _tracks_in(event.body)
    return found


def _last_of_tools(run: Report) -> dict[tuple[str, str], str]:
    """The same by the tools of the broker's own version."""
    found: dict[tuple[str, str], str] = {}
    for event in of_type(run.events, TracksObserved):
        found |= _tracks_in(event.body)
    return found


def _tracks_in(shown: TracksObserved | DashboardTracksObserved) -> dict[tuple[str, str], str]:
    return {(group, shown.key): track for group, track in shown.tracks.items()}


def _tracks(run: Report, group: str) -> Iterator[str]:
    tracks, by_tools = last_tracks(run), _last_of_tools(run)
    # Without a dashboard it is the answer of RocketMQ's tools, which every dashboard shows.
    who = "The dashboard" if any(of_type(run.events, DashboardTracksObserved)) else "A dashboard"
    heard = Counter[str]()
    unheard = []
    members = run.scenario.members(group)
    outside = any(run.scenario.consumers[name].traits.seen_by != "listener" for name in members)
    for fate in _of_group(run, group):
        if outside and fate.message_class is MessageClass.UNDETERMINED:
            continue  # it may have been handled without an entry
        shown = tracks.get((group, fate.key), "")
        if fate.message_class not in _HANDLED or not fate.deliveries:
            if shown == "CONSUMED":
                unheard.append(fate)
        elif shown == by_tools.get((group, fate.key), shown):
            # Where they differ it is for another reason, which stands below.
            heard[shown] += 1
    if unheard:
        yield (
            f"{who} shows CONSUMED for {counted(len(unheard), 'message')} of group {group} "
            f"{_missed(unheard)}: CONSUMED says that the offset passed, not that anybody handled it."
        )
    for track in ("CONSUMED_BUT_FILTERED", "NOT_CONSUME_YET"):
        if heard[track]:
            yield (
                f"{who} shows {track} for {counted(heard[track], 'message')} of group {group} that a "
                "listener got: it judges old messages by the current subscription and offsets."
            )


def _dashboard(run: Report, group: str) -> Iterator[str]:
    """Where a dashboard that was asked differs from the brokers and their own tools, when it was asked last."""
    own = {event.body.key: event.body.tracks for event in _at_last(run, TracksObserved)}
    differing = Counter[tuple[str, str]]()
    for event in _at_last(run, DashboardTracksObserved):
        if event.body.key not in own:
            continue
        pair = event.body.tracks.get(group), own[event.body.key].get(group)
        if pair[0] != pair[1]:
            differing[pair[0] or "nothing", pair[1] or "nothing"] += 1
    for (shown, said), number in differing.most_common():
        yield (
            f"The dashboard shows {shown} for {counted(number, 'message')} of group {group}, the tools of the "
            f"broker's own version {said}."
        )
    for shown_at in _at_last(run, DashboardConnectionsObserved):
        if shown_at.body.group == group:
            yield from _subscriptions(run, group, shown_at.body.subscriptions)


def _subscriptions(run: Report, group: str, shown: Mapping[str, OwnSubscription]) -> Iterator[str]:
    for event in _at_last(run, SubscriptionObserved):
        held = event.body.subscriptions
        for topic in run.scenario.topics if event.body.group == group else ():
            pair = [item.expression if item else "none" for item in (shown.get(topic), held.get(topic))]
            if pair[0] != pair[1]:
                yield (
                    f"The dashboard shows {pair[0]} as the subscription of group {group} for {topic}, "
                    f"{event.body.broker} holds {pair[1]}."
                )


def _strangers(run: Report) -> Iterator[str]:
    """What the dashboard lists as a group, though none of the run's groups has that name."""
    found = Counter(
        (name, track)
        for event in _at_last(run, DashboardTracksObserved)
        for name, track in event.body.tracks.items()
        if name not in run.scenario.groups
    )
    for (name, track), number in found.most_common():
        is_topic = ": that is the topic" if name in run.scenario.topics else ""
        yield (
            f"The dashboard lists {name} as a group, {track}, for {counted(number, 'message')}; the run has no "
            f"such group{is_topic}."
        )


def _at_last(run: Report, kind: type[OBSERVED]) -> Iterator[Event[OBSERVED]]:
    """The observation at the last question to the dashboard."""
    moments = [event.body.moment for event in of_type(run.events, DashboardConnectionsObserved)]
    for event in of_type(run.events, kind):
        if moments and event.body.moment == moments[-1]:
            yield event


def _offsets(run: Report, group: str) -> Iterator[str]:
    passed = [fate for fate in _of_group(run, group) if fate.message_class in _PASSED]
    if passed:
        yield (
            f"The offsets of group {group} have passed {counted(len(passed), 'message')} {_missed(passed)}: "
            "in a lag graph they look consumed."
        )


def _missed(fates: Sequence[MessageFate]) -> str:
    """What they have in common: one whose listener failed is lost if it never comes again."""
    return f"that no listener {'consumed' if any(fate.deliveries for fate in fates) else 'got'}"


def _programs(run: Report) -> Iterator[str]:
    for name, own, declared in other_subscriptions(run):
        yield (
            f"The program of {name} subscribes to {own}, and the scenario says {declared}: it is judged by what "
            "it does."
        )
    for name, topic in _undeclared_topics(run):
        yield (
            f"The program of {name} subscribes to {topic}, which is no topic of the scenario: nothing is sent "
            "there. Declare it in `topics` if its messages matter."
        )


def _uncounted_lines(run: Report) -> Iterator[str]:
    """What `sees` finds without a message of it, of programs whose groups have undetermined messages."""
    unknown = {fate.group for fate in run.outcome.messages if fate.message_class is MessageClass.UNDETERMINED}
    for name, consumer in run.scenario.consumers.items():
        bodies = [event.body for event in of_type(run.events, LineOfNoMessage) if event.node == name]
        if bodies and consumer.group in unknown:
            lines = consumer.traits.seen_by == "lines"
            count = counted(len(bodies), "line") if lines else counted(len(bodies), "entry", "entries")
            yield (
                f"`sees` gets no message out of {count} of {name}; the first is {bodies[0].line!r}: "
                f"{bodies[0].reason}."
            )


def other_subscriptions(run: Report) -> Iterator[tuple[str, str, str]]:
    """Consumers that are programs of the user's and subscribe to something else than the scenario says: with their
    own subscriptions, and with those of the scenario, in words.
    """
    for name, lives in reported(run).items():
        declared = {
            topic: as_data(expression) for topic, expression in run.scenario.consumers[name].subscribe.items()
        }
        different = [in_words(own) for own in lives if declared and _meaning(declared) != _meaning(own)]
        for own in dict.fromkeys(different):
            yield name, own, in_words(declared)


def _undeclared_topics(run: Report) -> list[tuple[str, str]]:
    """Topics to which programs of the user's subscribe, and which the scenario doesn't declare."""
    found = {(name, topic) for name, lives in reported(run).items() for own in lives for topic in own}
    return sorted(item for item in found if item[1] not in run.scenario.topics)


def _meaning(subscribe: Mapping[str, str | dict[str, str]]) -> dict[str, object]:
    return {topic: tags_of(text) if isinstance(text, str) else text for topic, text in subscribe.items()}
