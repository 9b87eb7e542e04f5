"""`dashboard`: what RocketMQ's dashboard shows, compared with what brokers say and listeners saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from rocketchaos.assertions.base import Answer, Check
from rocketchaos.assertions.chosen import chosen_messages, lag_beyond
from rocketchaos.assertions.view import RunView, Sent
from rocketchaos.harness.core.events.observed import (
    DashboardConnectionsObserved,
    DashboardProgressObserved,
    DashboardTracksObserved,
    SubscriptionObserved,
    TracksObserved,
)
from rocketchaos.harness.language.words import ConsumerRef, ExpressionRef, GroupName, TagRef, TopicName
from rocketchaos.harness.rocketmq.track_type import TrackType

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario

_NO_ENTRY = "no entry"
_SEVERAL_DIFFERENCES = 3
"""The limit of differences shown in full."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """The part of a track list that a check asks for: its TrackTypes, and the same as text."""

    tracks: str
    text: str


@dataclass(frozen=True, slots=True)
class _Part:
    """The result of one statement of a check."""

    holds: bool | None
    expected: str
    observed: str
    proof: Sequence[int] = ()


class Dashboard(Check):
    """The dashboard shows this for the group and the topic; every stated field must match.

    The cluster must have one: `cluster: {dashboard: true}`. It is an independent witness, with the tools of
    its own version; `track` uses the tools of the broker's version. The check asks the dashboard for the
    first 100 messages of the run.

    `agrees: true`: at the same moment it shows for every message the TrackType that the broker's own tools
    give, and for the topic the subscription that every broker holds, or none if they hold none. `agrees:
    false`: at least one of these differs. The `lag` of queues that never had a message is unknown.
    """

    word = "dashboard"
    example = "dashboard: {group: g, topic: orders, heard: false, all: CONSUMED}"

    topic: TopicName = Field(description="the topic")
    group: GroupName | None = Field(default=None, description="the group; only `others` needs none")
    all: TrackType | None = Field(default=None, description="the TrackType that it shows for every message")
    absent: bool = Field(default=False, description="true: it shows the group for no message")
    others: TrackType | Literal["none"] | None = Field(
        default=None,
        description="the TrackType of the other groups that it lists for every message, in addition to the "
        "scenario's; `none`: it lists no others",
    )
    expression: ExpressionRef | None = Field(
        default=None, description="the subscription that it shows: `tagB`, `$holder.tag`"
    )
    lag: int | None = Field(default=None, ge=0, description="how many messages behind it shows the group")
    agrees: bool | None = Field(
        default=None, description="whether it shows what brokers hold and their own tools say"
    )
    heard: bool | None = Field(
        default=None,
        description="only messages that a listener of the group got; `false`: only those that none got",
    )
    tag: TagRef | None = Field(default=None, description="only messages of this tag")
    queues_of: ConsumerRef | None = Field(
        default=None, description="only messages in the queues that this consumer owned when last seen"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Dashboard:
        of_group = (self.all, self.absent or None, self.expression, self.lag, self.agrees, self.heard)
        stated = (*of_group[:-1], self.others)
        if all(item is None for item in stated):
            raise ValueError("say `all`, `absent: true`, `others`, `expression`, `lag` or `agrees`")
        if self.group is None and any(item is not None for item in of_group):
            raise ValueError("give the `group` that it is about")
        if self.absent and (self.all is not None or self.agrees is not None):
            raise ValueError("`absent: true` excludes `all` and `agrees`")
        return self

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        if not scenario.cluster.dashboard:
            yield "the cluster has no dashboard: write `cluster: {dashboard: true}`"
        if self.lag is not None:
            yield from lag_beyond(scenario, self.topic, self.lag)

    def title(self) -> str:
        return f"the dashboard on {self.topic}" + (f" for {self.group}" if self.group else "")

    def evaluate(self, view: RunView) -> Answer:
        parts = list(self._parts(view))
        holds = [part.holds for part in parts]
        return Answer(
            False if False in holds else None if None in holds else True,
            ", ".join(part.expected for part in parts),
            "; ".join(part.observed for part in parts),
            [n for part in parts for n in part.proof],
        )

    def _parts(self, view: RunView) -> Iterator[_Part]:
        if self.all is not None:
            yield self._listed(view, f"all {self.all}", self.all, self._group_shown)
        if self.absent:
            yield self._listed(view, f"{self.group} not listed", _NO_ENTRY, self._group_shown)
        if self.others is not None:
            text = "nothing else listed" if self.others == "none" else f"others {self.others}"
            yield self._listed(view, text, self.others, lambda shown: _others(shown, view.scenario.groups))
        if self.expression is not None:
            yield self._subscription(view, self.expression)
        if self.lag is not None:
            yield self._lag(view, self.lag)
        if self.agrees is not None:
            yield self._agreement(view, self.agrees)

    # Track lists ---------------------------------------------------------------------------------------

    def _listed(
        self, view: RunView, expected: str, wanted: str, of: Callable[[Mapping[str, str]], _Shown]
    ) -> _Part:
        """Whether `of` makes the same of the track list of every message."""
        messages = self._messages(view)
        if isinstance(messages, str):
            return _Part(None, expected, messages)
        lists = _by_key(view, DashboardTracksObserved, self.at, self.topic)
        found = Counter(of(lists[message.key][1]) for message in messages if message.key in lists)
        parts = [f"{number} {shown.text}" for shown, number in found.most_common()]
        silent = sum(1 for message in messages if message.key not in lists)
        if silent:
            parts.append(f"{silent} not shown")
        proof = [lists[message.key][0] for message in messages if message.key in lists]
        differs = any(shown.tracks != wanted for shown in found)
        return _Part(False if differs else None if silent else True, expected, ", ".join(parts), proof)

    def _group_shown(self, shown: Mapping[str, str]) -> _Shown:
        entry = self._entry_of_group(shown)
        return _Shown(entry, entry)

    def _entry_of_group(self, shown: Mapping[str, str]) -> str:
        return shown.get(str(self.group), _NO_ENTRY)

    def _messages(self, view: RunView) -> list[Sent] | str:
        """The messages that the check is about, or why they are unknown."""
        chosen = chosen_messages(view, self.at, self.topic, self.tag, self.queues_of)
        if isinstance(chosen, str) or self.heard is None:
            return chosen
        at, members = view.end_of(self.at) or 0, view.scenario.members(self.group or "")
        found = [
            message
            for message in chosen
            if any(delivery.consumer in members for delivery in view.deliveries_of(message.key, at))
            is self.heard
        ]
        got = "a listener" if self.heard else "no listener"
        return found or f"of {len(chosen)} messages there is none that {got} got"

    # Subscription and progress -------------------------------------------------------------------------

    def _subscription(self, view: RunView, reference: str) -> _Part:
        wanted = view.expression(reference, self.topic)
        if wanted is None:
            return _Part(None, reference, f"{reference} was never bound")
        expected = reference if wanted == reference else f"{reference} = {wanted}"
        shown = self._shown_subscription(view)
        if shown is None:
            return _Part(None, expected, f"its connections were not asked for at `{self.at}`")
        number, text = shown
        return _Part(text == wanted, expected, f"it shows {text or 'no subscription'}", [number])

    def _shown_subscription(self, view: RunView) -> tuple[int, str | None] | None:
        """The event, and the expression in it; None: the dashboard wasn't asked."""
        events = view.observed(DashboardConnectionsObserved, self.at, group=self.group)
        if not events:
            return None
        stored = events[-1].body.subscriptions.get(self.topic)
        return events[-1].n, None if stored is None else stored.expression

    def _lag(self, view: RunView, wanted: int) -> _Part:
        expected = f"lag {wanted}"
        events = view.observed(DashboardProgressObserved, self.at, group=self.group)
        if not events:
            return _Part(None, expected, f"the group's progress was not asked for at `{self.at}`")
        event = events[-1]
        queues = event.body.topics.get(self.topic)
        if queues is None:
            said = event.body.error or f"it lists no queue of {self.topic}"
            return _Part(False, expected, f"no lag: {said}", [event.n])
        lag = sum(queue.max_offset - (queue.consumer_offset or 0) for queue in queues)
        if lag == wanted == 0 and not any(queue.max_offset for queue in queues):
            return _Part(None, expected, "lag 0: no message was ever in its queues", [event.n])
        return _Part(lag == wanted, expected, f"lag {lag}", [event.n])

    # Beside the other witness --------------------------------------------------------------------------

    def _agreement(self, view: RunView, wanted: bool) -> _Part:
        expected = "as the brokers say" if wanted else "other than the brokers say"
        messages = self._messages(view)
        if isinstance(messages, str):
            return _Part(None, expected, messages)
        differences, unknown, proof = self._track_differences(view, messages)
        shown = self._shown_subscription(view)
        held = view.observed(SubscriptionObserved, self.at, group=self.group)
        if shown is None or not held:
            unknown.append("subscriptions were not asked for")
        else:
            number, text = shown
            for event in held:
                stored = event.body.subscriptions.get(self.topic)
                own = None if stored is None else stored.expression
                if own != text:
                    differences.append(
                        f"it shows {text or 'no subscription'}, {event.body.broker} holds {own or 'none'}"
                    )
                    proof += [number, event.n]
        if differences:
            return _Part(not wanted, expected, "; ".join(differences), proof)
        if unknown:
            return _Part(None, expected, "; ".join(unknown), proof)
        return _Part(wanted, expected, f"the same of {len(messages)} messages and the subscription", proof)

    def _track_differences(
        self, view: RunView, messages: Sequence[Sent]
    ) -> tuple[list[str], list[str], list[int]]:
        """The differences, the unknowns, and the events that show them."""
        lists = _by_key(view, DashboardTracksObserved, self.at, self.topic)
        own_lists = _by_key(view, TracksObserved, self.at, self.topic)
        found: Counter[str] = Counter()
        proof, silent = [], 0
        for message in messages:
            if message.key not in lists or message.key not in own_lists:
                silent += 1
                continue
            (number, shown), (own_number, own) = lists[message.key], own_lists[message.key]
            ours, theirs = self._entry_of_group(shown), self._entry_of_group(own)
            if ours != theirs:
                found[f"it shows {ours}, the broker's own tools {theirs}"] += 1
            proof += [number, own_number]
        sentences = [f"{text}: {number} messages" for text, number in found.most_common()]
        if len(sentences) > _SEVERAL_DIFFERENCES:
            sentences = [
                *sentences[:_SEVERAL_DIFFERENCES],
                f"and {len(sentences) - _SEVERAL_DIFFERENCES} other differences",
            ]
        return sentences, [f"{silent} messages were not asked for"] if silent else [], proof


def _by_key(
    view: RunView, kind: type[TracksObserved | DashboardTracksObserved], moment: str, topic: str
) -> dict[str, tuple[int, Mapping[str, str]]]:
    """The track lists of a topic's messages at a moment, with the number of the event."""
    return {
        event.body.key: (event.n, event.body.tracks) for event in view.observed(kind, moment, topic=topic)
    }


def _others(shown: Mapping[str, str], groups: Sequence[str]) -> _Shown:
    """The TrackTypes of entries that are none of the groups, and their names behind: `UNKNOWN (orders)`."""
    others = {name: track for name, track in shown.items() if name not in groups}
    tracks = ", ".join(sorted(set(others.values()))) or "none"
    return _Shown(tracks, f"{tracks} ({', '.join(sorted(others))})" if others else tracks)
