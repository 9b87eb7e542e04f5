"""`retry`: how often, and after how long, messages came again because a listener had failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from rocketchaos.assertions.attempts import answer_to, first_attempts_to_come, retries, retries_to_come
from rocketchaos.assertions.base import Answer, CountSoFar
from rocketchaos.assertions.chosen import of_none
from rocketchaos.assertions.limits import keeps
from rocketchaos.assertions.view import Delivery, RunView
from rocketchaos.harness.language.words import DurationMs, GroupName, TopicName

if TYPE_CHECKING:
    from rocketchaos.harness.scenario.model import Scenario


class Retry(CountSoFar):
    """The number of deliveries to the group that were retries: a listener had failed, so the message came again.

    Retries of a concurrent listener come through `%RETRY%<group>`, those of an orderly one stay in their
    queue; both have a reconsumeTimes of 1 or more. `after_at_least` and `after_at_most` must hold for each of
    them: the time from the listener's answer to the attempt before. Without any retry the answer about times
    is unknown. Copies of one retry count once: `duplicated` counts messages that come more often.
    """

    word = "retry"
    example = "retry: {group: g, count: 2, reconsume_times: 1, after_at_least: 900ms}"

    group: GroupName = Field(description="the group")
    topic: TopicName | None = Field(default=None, description="only messages of this topic, the original one")
    reconsume_times: int | None = Field(
        default=None, ge=1, description="only the first retry, 1, the second, 2, …; default all"
    )
    after_at_least: DurationMs | None = Field(
        default=None, description="the shortest time after the failed attempt"
    )
    after_at_most: DurationMs | None = Field(
        default=None, description="the longest time after the failed attempt"
    )

    @model_validator(mode="after")
    def _times_of_some(self) -> Retry:
        if self.states_none and self._has_limits:
            raise ValueError(
                "where no retry comes none has a time: leave out `after_at_least`, `after_at_most`"
            )
        return self

    @property
    def _has_limits(self) -> bool:
        return self.after_at_least is not None or self.after_at_most is not None

    def problems(self, scenario: Scenario) -> Iterator[str]:
        members = [scenario.consumers[name] for name in scenario.members(self.group)]
        if self.asks_for_some and members and not any(member.retries for member in members):
            yield f"nothing comes again to {self.group}: broadcasting and lite pull retry nothing"

    def unreachable(self, scenario: Scenario) -> Iterator[str]:
        yield from of_none(scenario, self.topic)

    def doubts(self, scenario: Scenario) -> Iterator[str]:
        sent = scenario.most_sent(self.topic)
        if self.reconsume_times is not None and self.asks_for_more(sent):
            yield (
                f"{self.how_many('retry', 'retries')} of reconsumeTimes {self.reconsume_times}: "
                f"the steps send {sent} such messages, each of which has one"
            )

    def title(self) -> str:
        return f"retries of {self.group}"

    def evaluate(self, view: RunView) -> Answer:
        expected = self.how_many("retry", "retries") + self._times()
        at = view.end_of(self.at)
        if at is None:
            return Answer(None, expected, f"the observation `{self.at}` was not made")
        if lines := view.seen_from_outside(view.scenario.members(self.group)):
            return Answer(
                None,
                expected,
                f"{', '.join(lines)} is seen by {view.by_what_seen(lines)}, which don't tell what came again",
            )
        found = [
            (before, again)
            for before, again in retries(view, at, self.group)
            if self.topic in (None, again.topic) and self.reconsume_times in (None, again.reconsume_times)
        ]
        got = view.deliveries(at, view.scenario.members(self.group))
        if not any(self.topic in (None, delivery.topic) for delivery in got):
            whose = "" if self.topic is None else f" of {self.topic}"
            early = first_attempts_to_come(view, self.group, at)
            return Answer(
                None, expected, f"no listener of {self.group} got any message{whose}", too_early=early
            )
        took_ms = [self._took_ms(view, before, again, at) for before, again in found]
        spread = f", {min(took_ms):.0f} to {max(took_ms):.0f} ms after the attempt before" if took_ms else ""
        observed = f"{len(found)} retries{spread}"
        proof = [item.event.n for pair in found for item in pair]
        in_time = all(map(self._in_time, took_ms))
        if in_time and not self.so_far and not self.is_final(len(found)):
            unsure = retries_to_come(view, self.group, self.at, at) or first_attempts_to_come(
                view, self.group, at
            )
            if unsure is not None:
                return Answer(None, expected, f"{observed}; {unsure}", proof, too_early=unsure)
        if not found and self._has_limits and self.fits(0):
            return Answer(None, expected, f"{observed}: none came whose time could be compared with a limit")
        return Answer(in_time and self.fits(len(found)), expected, observed, proof)

    def _times(self) -> str:
        which = "" if self.reconsume_times is None else f" of reconsumeTimes {self.reconsume_times}"
        limits = (("at least", self.after_at_least), ("at most", self.after_at_most))
        text = " and ".join(f"{word} {limit} ms" for word, limit in limits if limit is not None)
        return which + (f", each {text} after the attempt before" if text else "")

    def _took_ms(self, view: RunView, before: Delivery, again: Delivery, until: int) -> float:
        answer = answer_to(view, before, until)
        # A listener that was killed, or hangs, has answered nothing.
        known = answer is not None and answer.mono_ns <= again.event.mono_ns
        since = answer if answer is not None and known else before.event
        return (again.event.mono_ns - since.mono_ns) / 1e6

    def _in_time(self, took_ms: float) -> bool:
        return keeps(took_ms, self.after_at_least, self.after_at_most)
